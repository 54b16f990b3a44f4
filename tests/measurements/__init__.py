"""The measurements measure what they say."""
