"""What all tests rely on."""
import signal

# Whatever starts the tests may ignore these signals, as nohup and background jobs do, and every program
# that the tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
