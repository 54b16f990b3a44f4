"""Sessions of DeepSeek Harness: the model of the reader, the faults, the repair, the command.

None of it needs the native engine, so its absence is no warning here.
"""

from tests.support import public

public()
