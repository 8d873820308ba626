#include "mpi/roll_call.h"

#ifdef TESSERA_PMIX

#include <pmix.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace tessera::mpi {
namespace {

pmix_proc_t& ourselves() {
  static pmix_proc_t proc;
  return proc;
}

std::string note(std::uint32_t rank) { return "tessera.came." + std::to_string(rank); }

pmix_proc_t process(std::uint32_t rank) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, ourselves().nspace, rank);
  return proc;
}

std::uint32_t processes() {
  const pmix_proc_t all = process(PMIX_RANK_WILDCARD);
  pmix_value_t* size = nullptr;
  if (PMIx_Get(&all, PMIX_JOB_SIZE, nullptr, 0, &size) != PMIX_SUCCESS || size == nullptr) return 0;
  const std::uint32_t count = size->type == PMIX_UINT32 ? size->data.uint32 : 0;
  PMIX_VALUE_RELEASE(size);
  return count;
}

std::string host_of(std::uint32_t rank) {
  const pmix_proc_t proc = process(rank);
  pmix_value_t* host = nullptr;
  if (PMIx_Get(&proc, PMIX_HOSTNAME, nullptr, 0, &host) != PMIX_SUCCESS || host == nullptr)
    return "";
  std::string name;
  if (host->type == PMIX_STRING && host->data.string != nullptr)
    name = " (on host " + std::string(host->data.string) + ")";
  PMIX_VALUE_RELEASE(host);
  return name;
}

bool has_come(std::uint32_t rank) {
  pmix_pdata_t wanted;
  PMIX_PDATA_CONSTRUCT(&wanted);
  PMIX_LOAD_KEY(wanted.key, note(rank).c_str());
  const bool found = PMIx_Lookup(&wanted, 1, nullptr, 0) == PMIX_SUCCESS;
  PMIX_PDATA_DESTRUCT(&wanted);
  return found;
}

}  // namespace

void RollCall::come() {
  if (std::getenv("PMIX_NAMESPACE") == nullptr) return;
  if (PMIx_Init(&ourselves(), nullptr, 0) != PMIX_SUCCESS) return;
  there_ = true;
  pmix_info_t mine;
  PMIX_INFO_CONSTRUCT(&mine);
  const int pid = ::getpid();
  PMIX_INFO_LOAD(&mine, note(ourselves().rank).c_str(), &pid, PMIX_INT);
  (void)PMIx_Publish(&mine, 1);
  PMIX_INFO_DESTRUCT(&mine);
}

std::string RollCall::missing() {
  if (!there_) return "";
  std::vector<std::string> absent;
  for (std::uint32_t rank = 0; rank < processes(); ++rank)
    if (rank != ourselves().rank && !has_come(rank))
      absent.push_back("rank " + std::to_string(rank) + host_of(rank));
  std::string list;
  for (std::size_t i = 0; i < absent.size(); ++i)
    list += (i == 0 ? "" : i + 1 == absent.size() ? " and " : ", ") + absent[i];
  return list;
}

void RollCall::leave() {
  if (there_) (void)PMIx_Finalize(nullptr, 0);
  there_ = false;
}

}  // namespace tessera::mpi

#else

namespace tessera::mpi {

void RollCall::come() {}
std::string RollCall::missing() { return ""; }
void RollCall::leave() {}

}  // namespace tessera::mpi

#endif
