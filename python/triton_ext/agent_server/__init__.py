# SPDX-License-Identifier: Apache-2.0
"""``triton-ext mcp``: a server of tools by the Model Context Protocol, for agents that optimise kernels.

The server process reads requests, checks paths and writes answers; it imports neither Triton nor the user's code. Each
call of a tool is an action, which runs in a child process of its own under `Limits`.

- `root`: which files an agent may name.
- `children`: starts, bounds and ends the child of an action.
- `child_process`: what this child does around the action.
- `actions`: the actions by name; `documentation`, `compiling`, `reading`, `checking`, `measuring` and `history` have
  them.
- `tools`, `launch_tools`, `arguments`: names, arguments and descriptions of the tools, as agents see them.
- `calls`: from the call of a tool to an action.
- `transport`: standard input and output.
"""
