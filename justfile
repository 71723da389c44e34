# What people run daily. Each line can also be typed as it stands; `just` (https://just.systems) only saves the typing.

# The commands that there are
default:
    @just --list

# Does it compile: all crates with their tests, a minute after a small change
check:
    cargo check --locked --workspace --all-targets

# All tests of all crates
test:
    cargo test --locked --workspace

# One crate's tests, e.g. `just crate engine` or `just crate n8n validate`; `just crate cli` are those of the command line
crate NAME *FILTER:
    cargo test --locked {{ if NAME == "cli" { "--test cli" } else { "-p agentctl-" + NAME } }} {{ FILTER }}

# The attacks of docs/security.md, all or those whose name holds the words, e.g. `just battery case_028`
battery *FILTER:
    cargo test --locked --test battery {{ FILTER }}

# What CI runs
ci:
    .ci/run
