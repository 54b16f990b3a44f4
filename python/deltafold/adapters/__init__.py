"""Drop-ins for the libraries that people assemble streams with today, one small module each.

Nothing here is imported unless asked for, and each module needs the library that it stands in for:
`pip install deltafold[openai]`, and likewise `anthropic`, `litellm`, `langchain`, `pydantic-ai`,
`openai-agents`.
"""
