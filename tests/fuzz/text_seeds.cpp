#include "fuzz/format_seeds.h"

namespace tessera {

std::vector<FormatSeed> text_seeds() {
  const std::string head = "%%MatrixMarket matrix ";
  return {
      {"csv", "a,b,\"c, d\"\n1,2,3\n4,5.5,6e-3\n\"7\",,NA\n"},
      {"csv", "1 2 3\r\n-4 +5 6\r\n# comment\r\n\r\n7 8 9"},
      {"csv", "true;false\nfalse;true\n"},
      {"csv", "9223372036854775807\t-1\ninf\tnan\n"},
      {"triples", "i,j,v\n0,0,1\n2,3,-5\n0,0,2.5\n"},
      {"triples", "1 2 3 4.5\n0 1 0 2\n# end\n"},
      {"triples", "4\ttrue\n2\tfalse\n"},
      {"mtx", head + "coordinate real general\n% c\n3 4 3\n1 1 1.5\n3 4 -2\n1 1 1\n"},
      {"mtx", head + "coordinate integer symmetric\n3 3 2\n2 1 7\n3 3 -1\n"},
      {"mtx", head + "coordinate pattern general\n3 3 2\n1 2\n3 1\n"},
      {"mtx", head + "coordinate real skew-symmetric\n3 3 1\n3 1 2\n"},
      {"mtx", head + "array real general\n2 3\n1\n2\n3\n4\n5\n6\n"},
      {"mtx", head + "array integer symmetric\n2 2\n1\n2\n3\n"},
      {"mtx", head + "array real skew-symmetric\n3 3\n1\n2\n3\n"},
      {"svmlight", "1 1:0.5 3:2 # point\n-1 qid:3 2:1\n\n+2.5\n"},
      {"svmlight", "1,3 0:1 5:2\n 2:1\n0\n"},
      {"extreme", "3 4 5\n0,4 0:1 3:.5\n 1:2\n2 2:1.5\n"},
      {"extreme", "2 1 1\n\n0 0:1\n"},
  };
}

}  // namespace tessera
