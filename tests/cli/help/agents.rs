//! Help: other agents over A2A.

use super::help;

#[test]
fn a2a() {
    insta::assert_snapshot!(help("a2a"), @r#"
    Other agents over A2A: their cards, messages to them, their tasks

    Usage: agentctl a2a [OPTIONS] <COMMAND>

    Commands:
      card       What an agent says of itself, and whether you approved that
      approve    Approve an agent's card as it is now; tools of packs reach no other, and a changed card
                 is refused
      verify     Check that a key that you know signed an agent's card as it is; else exit code 5
      keygen     Print the public half of the key that signs your agents' cards; the first time it is
                 made
      sign-card  Sign a card of another making with your key
      send       Send a message, and wait until its task is at its end or waits for somebody
      get        How a task stands
      watch      Watch a task until it is at its end or waits for somebody
      cancel     Cancel a task
      help       Print this message or the help of the given subcommand(s)

    Examples:
      agentctl a2a card https://agents.example.com
      agentctl a2a send desk "How long is the heating network of Norrfeld?"

    Agents have names in agentctl.toml: [a2a.agents.NAME] url, and token_env, token_file or basic.
    "#);
    insta::assert_snapshot!(help("a2a card"), @"
    What an agent says of itself, and whether you approved that

    Usage: agentctl a2a card [OPTIONS] <AGENT>

    Arguments:
      <AGENT>
              The agent's address, or its name in agentctl.toml

    Options:
          --token-env <VARIABLE>
              The variable with the bearer token for an address

          --keys <FILE>
              Keys (a JSON Web Key Set), one of which has to have signed the agent's card

          --extended
              The card for those that the agent lets in, where it has one

    Examples:
      agentctl a2a card desk
      agentctl a2a card http://127.0.0.1:8137 --output-format json
    ");
    insta::assert_snapshot!(help("a2a approve"), @"
    Approve an agent's card as it is now; tools of packs reach no other, and a changed card is refused

    Usage: agentctl a2a approve [OPTIONS] <AGENT>

    Arguments:
      <AGENT>
              The agent's address, or its name in agentctl.toml

    Options:
          --token-env <VARIABLE>
              The variable with the bearer token for an address

          --keys <FILE>
              Keys (a JSON Web Key Set), one of which has to have signed the agent's card

    Example:
      agentctl a2a approve desk
    ");
    insta::assert_snapshot!(help("a2a verify"), @"
    Check that a key that you know signed an agent's card as it is; else exit code 5

    Usage: agentctl a2a verify [OPTIONS] <AGENT>

    Arguments:
      <AGENT>
              The agent's address, or its name in agentctl.toml

    Options:
          --token-env <VARIABLE>
              The variable with the bearer token for an address

          --keys <FILE>
              Keys (a JSON Web Key Set), one of which has to have signed the agent's card

    Example:
      agentctl a2a verify https://agents.example.com --keys keys.json
    ");
    insta::assert_snapshot!(help("a2a keygen"), @"
    Print the public half of the key that signs your agents' cards; the first time it is made

    Usage: agentctl a2a keygen [OPTIONS]

    Options:
          --renew
              Make a new key in the place of the old one

    Example:
      agentctl a2a keygen > keys.json

    [serve] sign_cards = true has the server sign every card.
    ");
    insta::assert_snapshot!(help("a2a sign-card"), @"
    Sign a card of another making with your key

    Usage: agentctl a2a sign-card [OPTIONS] <FILE>

    Arguments:
      <FILE>
              The card (`-`: stdin)

    Example:
      agentctl a2a sign-card card.json > signed.json
    ");
    insta::assert_snapshot!(help("a2a send"), @r#"
    Send a message, and wait until its task is at its end or waits for somebody

    Usage: agentctl a2a send [OPTIONS] <AGENT> [TEXT]

    Arguments:
      <AGENT>
              The agent's address, or its name in agentctl.toml

      [TEXT]
              What to say (`-`: stdin)

    Options:
          --token-env <VARIABLE>
              The variable with the bearer token for an address

          --keys <FILE>
              Keys (a JSON Web Key Set), one of which has to have signed the agent's card

          --data <JSON>
              A JSON value that goes along, or alone

          --task <TASK>
              The task that the message answers

          --context <CONTEXT>
              The conversation that the message belongs to

          --message-id <ID>
              The message's own id: the same again is the same message; default: a new one

          --no-wait
              End as soon as the task has begun

          --timeout <TIME>
              So long the task is waited for; it goes on without us

              [default: 5m]

    Examples:
      agentctl a2a send desk "How long is the heating network of Norrfeld?"
      agentctl a2a send desk --task 20260102-030405-0123456789 yes

    Exit code 0: completed, or begun with --no-wait; 1: failed; 4: it waits for an answer or an
    approval; 5: refused; 7: nobody answers.
    "#);
    insta::assert_snapshot!(help("a2a get"), @"
    How a task stands

    Usage: agentctl a2a get [OPTIONS] <AGENT> <TASK>

    Arguments:
      <AGENT>
              The agent's address, or its name in agentctl.toml

      <TASK>
              The task's id

    Options:
          --token-env <VARIABLE>
              The variable with the bearer token for an address

          --keys <FILE>
              Keys (a JSON Web Key Set), one of which has to have signed the agent's card

    Example:
      agentctl a2a get desk 20260102-030405-0123456789
    ");
    insta::assert_snapshot!(help("a2a watch"), @"
    Watch a task until it is at its end or waits for somebody

    Usage: agentctl a2a watch [OPTIONS] <AGENT> <TASK>

    Arguments:
      <AGENT>
              The agent's address, or its name in agentctl.toml

      <TASK>
              The task's id

    Options:
          --token-env <VARIABLE>
              The variable with the bearer token for an address

          --keys <FILE>
              Keys (a JSON Web Key Set), one of which has to have signed the agent's card

          --timeout <TIME>
              So long the task is waited for; it goes on without us

              [default: 5m]

    Example:
      agentctl a2a watch desk 20260102-030405-0123456789
    ");
    insta::assert_snapshot!(help("a2a cancel"), @"
    Cancel a task

    Usage: agentctl a2a cancel [OPTIONS] <AGENT> <TASK>

    Arguments:
      <AGENT>
              The agent's address, or its name in agentctl.toml

      <TASK>
              The task's id

    Options:
          --token-env <VARIABLE>
              The variable with the bearer token for an address

          --keys <FILE>
              Keys (a JSON Web Key Set), one of which has to have signed the agent's card

    Example:
      agentctl a2a cancel desk 20260102-030405-0123456789
    ");
}
