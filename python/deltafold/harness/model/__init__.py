"""An exact model of the real reader of DeepSeek Harness 0.1.0-rc.8, format v0: same answers, same words."""
