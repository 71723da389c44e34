//! The pack: agents, skills, flow, policy; and models.

use crate::support::Project;

#[test]
fn agents() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("agents list"), @"
    exit code 0
    analyst (opus)
      Explains why a run was blocked, from evidence only - the run's journal, findings, edits, executions and versions - and proposes learnings so that it does not happen again. Reads everything, changes nothing but proposals.
      tools: get_execution, get_workflow, list_executions, list_versions, list_workflows, load_skill, read_learning, read_skill_file, search_learnings, write_learning
    architect (opus)
      Turns a request into requirements, asks only what is missing, decides between modifying an existing workflow and building a new one, and draws the blueprint. Has no n8n tool at all.
      tools: load_skill, read_learning, read_skill_file, search_learnings
    builder (sonnet)
      Builds and repairs n8n workflows from a blueprint, with the smallest edits that do the job. The only agent that may create, change, roll back or delete a workflow.
      tools: autofix_workflow, check_workflow, create_workflow, delete_workflow, draft_workflow, get_node, get_workflow, list_workflows, load_skill, qa_workflows, read_learning, read_skill_file, rollback_workflow, search_learnings, update_workflow
    qa (sonnet)
      Gives the final verdict on a workflow - holds it against each requirement, sets the edit scope for a fix, compares cycles, activates and triggers where that is possible and safe - and reports exactly what was and was not tested. Never edits.
      tools: activate_workflow, deactivate_workflow, get_execution, get_workflow, list_executions, list_versions, list_workflows, load_skill, qa_workflows, read_learning, read_skill_file, rehearse_workflow, search_learnings, trigger_workflow, validate_workflow
    researcher (sonnet)
      Finds what exists before anything is built - learnings, existing workflows, templates, nodes with their exact types, versions and operations - and explains unknown findings to the builder. Reads only.
      tools: get_node, get_template, get_workflow, list_workflows, load_skill, read_learning, read_skill_file, search_learnings, search_nodes, search_templates
    single (sonnet)
      Clarifies a request, looks up what it needs, builds or changes the workflow, and says which nodes do what was asked, alone.
      tools: activate_workflow, autofix_workflow, check_workflow, create_workflow, deactivate_workflow, get_execution, get_node, get_template, get_workflow, list_executions, list_workflows, load_skill, read_learning, read_skill_file, rehearse_workflow, rollback_workflow, search_learnings, search_nodes, search_templates, trigger_workflow, update_workflow
    ");
    insta::assert_snapshot!(project.said("agents show nobody"), @r#"
    exit code 2
    -- stderr --
    error: there is no agent "nobody"
    hint: agents: analyst, architect, builder, qa, researcher, single
    "#);
    insta::assert_snapshot!(project.said("agents check"), @r"
    exit code 0
    6 agents, 8 skills, flow n8n-builder: no mistakes, 0 warnings
    ");
    project.write(
        "agents/analyst.md",
        "---\nname: analyst\ndescription: Mine\nmodel: haiku\n---\nLook at the run.\n",
    );
    insta::assert_snapshot!(project.said("agents show analyst"), @r"
    exit code 0
    analyst (haiku, at most 20 turns)
    Mine
    tools it may use: get_execution, get_workflow, list_executions, list_versions, list_workflows, load_skill, read_learning, read_skill_file, search_learnings, write_learning
    skills:
    from: agents/analyst.md

    Look at the run.
    ");
    project.write(
        "agents/analyst.md",
        "---\nname: analyst\nmodel: gigantic\n---\n",
    );
    insta::assert_snapshot!(project.said("agents check"), @r#"
    exit code 2
    -- stderr --
    error: agents/analyst.md: there is no prompt below the head
    agents/analyst.md:1:1: the head has no "description"
    agents/analyst.md:3:8: model must be opus, sonnet or haiku, not "gigantic"
    built-in agents/flow.yaml:117:40: the pack has no agent "analyst"
    built-in agents/flow.yaml:118:48: the pack has no agent "analyst"
    built-in agents/flow.yaml:122:51: the pack has no agent "analyst"
    built-in agents/flow.yaml:1120:18: the pack has no agent "analyst"
    hint: agentctl packs check n8n-builder lists the same; a project file overrides the built-in one of the same name
    "#);
}

#[test]
fn skills() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("skills list"), @r"
    exit code 0
    n8n-code-javascript [builder, single] built-in
      How to write JavaScript for n8n's Code node - when not to, the two modes and what each must return, reading input and earlier nodes, item linking, dates, binary data, static data, the sandbox limits of n8n 2.x, and tested snippets. Use when configuring a Code node with JavaScript or repairing one that fails.
    n8n-code-python [builder, single] built-in
      How to write Python for n8n's Code node in n8n 2.x - native Python only, _items and _item, bracket access, no imports by default, what the sandbox denies, return forms, how to migrate older Pyodide code, and when JavaScript is the better choice. Use when a Code node must be in Python or an existing Python node fails.
    n8n-expression-syntax [builder, single] built-in
      How to write n8n expressions that work - the leading equals sign, what $json holds after each kind of node, reading earlier nodes with $('Name'), dates with Luxon, building JSON and text, and the mistakes that make an expression arrive as plain text or undefined. Use whenever a parameter carries data between nodes or a message shows braces, undefined or [object Object].
    n8n-mcp-tools-expert [architect, qa, researcher] built-in
      How to use agentctl's native n8n tools - which tool does what, what it returns, the order that works, how update_workflow operations are written, what the gateway refuses and what to do then. Use before the first tool call on a workflow, when a call was refused or failed, or when planning edits to an existing workflow.
    n8n-node-configuration [builder, researcher, single] built-in
      How to configure n8n nodes correctly - resource and operation first, which parameters become visible, resource locators, fixed collections, filters, column mappings, credentials, node versions and node-level settings - with exact JSON for the common nodes. Use whenever setting or checking a node's parameters, or when a finding says a parameter is missing or unknown.
    n8n-techniques [] built-in
      How eleven kinds of n8n workflows are built - scheduling, chatbot, form input, notification, triage, data extraction, transformation and persistence, document processing, content generation, scraping and research - each with its nodes, their order and what goes wrong. Use before choosing node types for a new workflow of one of these kinds.
    n8n-validation-expert [analyst, qa, single] built-in
      How to read findings on an n8n workflow, tell what blocks from what advises, find the cause behind several findings, set the edit scope for a fix, compare cycles, and report honestly what was and was not tested. Use when validating, testing, reviewing a failed execution, or explaining why a workflow is rejected.
    n8n-workflow-patterns [analyst, architect, single] built-in
      Proven shapes for n8n workflows - triggers, branches, merges, loops, batching, deduplication, error handling, sub-workflows, AI agents - with the wiring for each and how items flow through them. Use when designing a blueprint, choosing nodes for a request, deciding whether to modify or build, or explaining why a workflow misbehaves.
    ");
    insta::assert_snapshot!(project.said("skills show no-such-skill"), @r#"
    exit code 2
    -- stderr --
    error: there is no skill "no-such-skill"
    hint: agentctl skills list names them
    "#);
    project.write(
        "skills/mine/SKILL.md",
        "---\nname: mine\ndescription: What is mine\n---\nKeep it.\n",
    );
    insta::assert_snapshot!(project.said("skills show mine"), @r"
    exit code 0
    Keep it.
    ");
}

#[test]
fn flow() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("flow check"), @"
    exit code 0
    flow n8n-builder: 64 steps, stages clarification → research → decision → build → validate → test → complete (or blocked), no mistakes
    ");
    insta::assert_snapshot!(project.said("flow graph"), @r#"
    exit code 0
    flowchart TD
      start([start])
      existing["researcher calls get_workflow<br/>when has(input.workflow) and input.workflow != null"]
      start --> existing
      failures["qa calls list_executions<br/>when has(input.executes) and input.executes and has(input.workflow) …"]
      existing --> failures
      failed_run["qa calls get_execution<br/>when steps.failures.status == 'done' and size(steps.failures.outpu …"]
      failures --> failed_run
      learned["researcher calls search_learnings"]
      failed_run --> learned
      there["single calls list_workflows<br/>when !pack.settings.multi_agent and (!has(input.workflow) or input …"]
      learned --> there
      alone[["alone: the flow single<br/>when !pack.settings.multi_agent"]]
      there --> alone
      clarify["architect: clarify<br/>when pack.settings.multi_agent"]
      alone --> clarify
      acceptable{"acceptable?"}
      clarify --> acceptable
      acceptable_end(["refused"])
      acceptable -- "no" --> acceptable_end
      questions[/"ask the user: questions"\]
      acceptable -- "yes" --> questions
      taken["set requirements<br/>when pack.settings.multi_agent and size(steps.questions.output) >  …"]
      questions --> taken
      refine["architect: refine<br/>when pack.settings.multi_agent and size(steps.questions.output) >  …"]
      taken --> refine
      alone_with["single calls get_workflow<br/>when !pack.settings.multi_agent and size(steps.questions.output) > …"]
      refine --> alone_with
      alone_on[["alone_on: the flow single<br/>when !pack.settings.multi_agent and size(steps.questions.output) > …"]]
      alone_with --> alone_on
      still_acceptable{"still acceptable?"}
      alone_on --> still_acceptable
      still_acceptable_end(["refused"])
      still_acceptable -- "no" --> still_acceptable_end
      assess["program calls ask_research<br/>when (has(input.assess) and input.assess == true) or (has(pack.set …"]
      still_acceptable -- "yes" --> assess
      assessed["set research_findings<br/>when steps.assess.status == 'done' and has(steps.assess.output.dat …"]
      assess --> assessed
      searched["researcher calls search_nodes<br/>when !has(state.requirements.plan) and has(state.research_request. …"]
      assessed --> searched
      listed["researcher calls list_workflows<br/>when pack.settings.multi_agent and !has(state.requirements.plan) & …"]
      searched --> listed
      research["researcher: research<br/>when pack.settings.multi_agent"]
      listed --> research
      subgraph recipes["recipes: each of state.research_findings.nodes<br/>when !has(state.requirements.plan) and has(state.research_findings …"]
        recipes_item(("node"))
        recipe["researcher calls get_node"]
        recipes_item --> recipe
      end
      research --> recipes_item
      recipes_join{{"join all"}}
      recipe --> recipes_join
      named["set decision<br/>when has(input.workflow) and input.workflow != null"]
      recipes_join --> named
      named_there["set decision<br/>when (!has(input.workflow) or input.workflow == null) and size((st …"]
      named --> named_there
      nothing_to_change["set decision<br/>when steps.named_there.status != 'done' and (!has(input.workflow)  …"]
      named_there --> nothing_to_change
      chosen_alone["set decision<br/>when steps.alone_with.status == 'done'"]
      nothing_to_change --> chosen_alone
      decide["architect: decide<br/>when steps.named.status != 'done' and steps.named_there.status !=  …"]
      chosen_alone --> decide
      choose[/"ask the user: choose<br/>when steps.decide.status == 'done' and (size(steps.decide.output.d …"\]
      decide --> choose
      chosen["set decision<br/>when steps.choose.status == 'done'"]
      choose --> chosen
      current["builder calls get_workflow<br/>when !has(state.requirements.plan) and steps.existing.status != 'd …"]
      chosen --> current
      blueprint["architect: blueprint<br/>when pack.settings.multi_agent"]
      current --> blueprint
      build["builder: build<br/>when pack.settings.multi_agent"]
      blueprint --> build
      built_alone["set workflow, covered<br/>when !pack.settings.multi_agent"]
      build --> built_alone
      built["set workflow<br/>when changed != null"]
      built_alone --> built
      subgraph qa_loop["qa_loop, at most 3"]
        qa_loop_cycle(("next cycle"))
        final["qa calls validate_workflow"]
        qa_loop_cycle --> final
        look["qa calls get_workflow"]
        final --> look
        checked["set qa_report"]
        look --> checked
        validate["qa: validate<br/>when pack.settings.multi_agent"]
        checked --> validate
        judged_alone["set qa_report, edit_scope<br/>when !pack.settings.multi_agent"]
        validate --> judged_alone
        judged["set qa_report<br/>when has(steps.validate.output.coverage)"]
        judged_alone --> judged
        test["qa: test<br/>when pack.settings.multi_agent and state.qa_report.status == 'pass …"]
        judged --> test
        test_alone["single: test<br/>when !pack.settings.multi_agent and state.qa_report.status == 'pas …"]
        test --> test_alone
        tried["set qa_report<br/>when steps.test.status == 'done' and has(steps.test.output.finding …"]
        test_alone --> tried
        tried_alone["set qa_report<br/>when steps.test_alone.status == 'done' and has(steps.test_alone.ou …"]
        tried --> tried_alone
        compared["set qa_report"]
        tried_alone --> compared
        failed{"failed?"}
        compared --> failed
        failed -- "no" --> qa_loop_left
        cycles_left{"cycles left?"}
        failed -- "yes" --> cycles_left
        cycles_left -- "no" --> qa_loop_exhausted
        known["builder calls search_learnings"]
        cycles_left -- "yes" --> known
        known_fixes["builder calls read_learning<br/>when steps.known.status == 'done' and size(steps.known.output.lear …"]
        known --> known_fixes
        research_fix["researcher: research_fix<br/>when pack.settings.multi_agent and (size(state.qa_report.unknown)  …"]
        known_fixes --> research_fix
        fix["builder: fix<br/>when pack.settings.multi_agent"]
        research_fix --> fix
        mend[["mend: the flow single<br/>when !pack.settings.multi_agent"]]
        fix --> mend
        fixed["set workflow<br/>when changed != null"]
        mend --> fixed
        fixed --> qa_loop_cycle
      end
      built --> qa_loop_cycle
      qa_loop_left[/"left"/]
      qa_loop_exhausted[/"exhausted"/]
      qa_loop_cycle -- "after 3" --> qa_loop_exhausted
      post_mortem["analyst: post_mortem"]
      qa_loop_exhausted --> post_mortem
      qa_loop_end(["blocked"])
      post_mortem --> qa_loop_end
      weigh["set workflow<br/>when has(state.research_findings.assessment) or steps.assess.stat …"]
      qa_loop_left --> weigh
      note["program calls note_todo<br/>when changed != null and has(input.executes) and input.executes"]
      weigh --> note
      understood{"understood?"}
      note --> understood
      understood_end(["draft"])
      understood -- "no" --> understood_end
      covered{"covered?"}
      understood -- "yes" --> covered
      covered_end(["partial"])
      covered -- "no" --> covered_end
      finish(["complete"])
      covered -- "yes" --> finish
      subgraph flow_single["the flow single"]
        single__begin([start])
        single__work["single: work<br/>when input.findings == null"]
        single__begin --> single__work
        single__mend["single: mend<br/>when input.findings != null"]
        single__work --> single__mend
        single__done(["end"])
        single__mend --> single__done
      end
      alone -.-> single__begin
      alone_on -.-> single__begin
      mend -.-> single__begin
    "#);
    project.write("agents/flow.yaml", "name: mine\nstages: 7\n");
    insta::assert_snapshot!(project.said("flow check"), @r#"
    exit code 2
    -- stderr --
    error: agents/flow.yaml:1:1: the flow has no "steps"
    agents/flow.yaml:2:9: `stages` must be a list of names, in forward order
    hint: agentctl packs check n8n-builder lists the same; a project file overrides the built-in one of the same name
    "#);
}

#[test]
fn policy() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("policy show"), @r#"
    exit code 0
    analyst
      get_execution, get_workflow, list_executions, list_versions, list_workflows, load_skill, read_learning, read_skill_file, search_learnings, write_learning
    architect
      load_skill, read_learning, read_skill_file, search_learnings
    builder
      autofix_workflow, check_workflow, create_workflow, delete_workflow, draft_workflow, get_node, get_workflow, list_workflows, load_skill, qa_workflows, read_learning, read_skill_file, rollback_workflow, search_learnings, update_workflow
    qa
      activate_workflow, deactivate_workflow, get_execution, get_workflow, list_executions, list_versions, list_workflows, load_skill, qa_workflows, read_learning, read_skill_file, rehearse_workflow, search_learnings, trigger_workflow, validate_workflow
    researcher
      get_node, get_template, get_workflow, list_workflows, load_skill, read_learning, read_skill_file, search_learnings, search_nodes, search_templates
    single
      activate_workflow, autofix_workflow, check_workflow, create_workflow, deactivate_workflow, get_execution, get_node, get_template, get_workflow, list_executions, list_workflows, load_skill, read_learning, read_skill_file, rehearse_workflow, rollback_workflow, search_learnings, search_nodes, search_templates, trigger_workflow, update_workflow

    limits
      max_turns: 30
      max_model_calls: 200
      max_tool_calls: 400
      max_identical_calls: 3
      max_tokens: 2000000
      max_cost_usd: 10.0
      max_seconds: 3600
      max_approval_seconds: 86400
      max_offered_tools: 16
    "#);
    insta::assert_snapshot!(project.said("policy check builder update_workflow"), @r"
    exit code 0
    allow: update_workflow for builder
      decided by builder: update-workflow
      - update_workflow needs update-workflow: granted to builder
      - effect: change
    guards (edit scope, wipe, stale, …) decide on the workflow as it is, at the call
    ");
    insta::assert_snapshot!(project.said("policy check qa update_workflow"), @r"
    exit code 5
    deny: update_workflow for qa
      decided by qa: no update-workflow
      qa may not update workflow; builder, single may
      - update_workflow needs update-workflow: not granted to qa
      - effect: change
    guards (edit scope, wipe, stale, …) decide on the workflow as it is, at the call
    ");
    insta::assert_snapshot!(project.said("policy check nobody update_workflow"), @r#"
    exit code 2
    -- stderr --
    error: there is no role "nobody"
    hint: roles: analyst, architect, builder, qa, researcher, single
    "#);
    insta::assert_snapshot!(project.said("policy check builder update_workflow '[1'"), @r"
    exit code 2
    -- stderr --
    error: the arguments are not valid JSON: EOF while parsing a list at line 1 column 2
    ");
}

#[test]
fn models() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("models"), @r"
    exit code 0
    offline  answers
      agents: analyst, architect, builder, qa, researcher, single (by default)
    ");
    insta::assert_snapshot!(project.said("models --model no-such-model"), @r#"
    exit code 2
    -- stderr --
    error: "no-such-model" is no model; write `offline` or `provider::model`, e.g. `anthropic::claude-sonnet-4-5`
    "#);
    insta::assert_snapshot!(project.said("models --no-call --model anthropic::claude-opus-4-6"), @r"
    exit code 6
    anthropic::claude-opus-4-6  does not answer
      agents: analyst, architect, builder, qa, researcher, single (by --model)
      problem: the model anthropic::claude-opus-4-6 is not available: the environment variable ANTHROPIC_API_KEY is not set
      hint: export ANTHROPIC_API_KEY=…, or name another variable or a command under [providers.anthropic] in agentctl.toml
      hint: --model offline needs no key
    ");
}

#[test]
fn orchestrators() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("orchestrators list"), @"
    exit code 0
    research  advanced (default), basic; agents: economic-agent, fact-checking-agent, research-orchestrator-agent, social-cultural-agent, technology-agent
    ");
    insta::assert_snapshot!(project.said("orchestrators list --output-format json"), @r#"
    exit code 0
    {
      "packs": [
        {
          "pack": "research",
          "orchestrators": [
            "advanced",
            "basic"
          ],
          "default": "advanced",
          "agents": [
            "economic-agent",
            "fact-checking-agent",
            "research-orchestrator-agent",
            "social-cultural-agent",
            "technology-agent"
          ]
        }
      ]
    }
    "#);
    insta::assert_snapshot!(project.said("orchestrators check"), @"
    exit code 0
    research: advanced, basic: no mistakes
    ");
    insta::assert_snapshot!(project.said("orchestrators check basci"), @r#"
    exit code 2
    -- stderr --
    error: packs/research/orchestrators: there is no orchestrator "basci"; did you mean "basic"?; there are advanced, basic, and a file of your own is named by its path
    hint: agentctl orchestrators list names those that there are, agentctl orchestrators new FILE.json begins one of your own
    "#);
    insta::assert_snapshot!(project.said("orchestrators check --pack front-door basic"), @"
    exit code 2
    -- stderr --
    error: packs/front-door/pack.yaml: the pack front-door has no orchestrators to choose from
    hint: agentctl orchestrators list names those that there are, agentctl orchestrators new FILE.json begins one of your own
    ");
    insta::assert_snapshot!(project.said("orchestrators graph nobody.json"), @"
    exit code 2
    -- stderr --
    error: cannot read the orchestrator nobody.json: No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(project.said("orchestrators graph basic"), @r#"
    exit code 0
    flowchart TD
      start([start])
      nobody(["failed"])
      nobody_when{"has(input.agents) and size(input.agents.filter(a, !(a in ['ec …"}
      start --> nobody_when
      nobody_when -- "yes" --> nobody
      analyse_technology_agent[["analyse-technology-agent: the flow technical<br/>when (!has(input.agents) or size(input.agents) == 0 or 'technolog …"]]
      nobody_when -- "no" --> analyse_technology_agent
      analyse_technology_agent_away["set away<br/>when steps['analyse-technology-agent'].status == 'failed'"]
      analyse_technology_agent --> analyse_technology_agent_away
      analyse_economic_agent[["analyse-economic-agent: the flow economic<br/>when (!has(input.agents) or size(input.agents) == 0 or 'economic- …"]]
      analyse_technology_agent_away --> analyse_economic_agent
      analyse_economic_agent_away["set away<br/>when steps['analyse-economic-agent'].status == 'failed'"]
      analyse_economic_agent --> analyse_economic_agent_away
      analyse_social_cultural_agent[["analyse-social-cultural-agent: the flow social<br/>when (!has(input.agents) or size(input.agents) == 0 or 'social-cu …"]]
      analyse_economic_agent_away --> analyse_social_cultural_agent
      analyse_social_cultural_agent_away["set away<br/>when steps['analyse-social-cultural-agent'].status == 'failed'"]
      analyse_social_cultural_agent --> analyse_social_cultural_agent_away
      finish(["end"])
      analyse_social_cultural_agent_away --> finish
      subgraph flow_technical["the flow technical"]
        technical__begin([start])
        technical__work["technology-agent: analyse"]
        technical__begin --> technical__work
        technical__done(["end"])
        technical__work --> technical__done
      end
      analyse_technology_agent -.-> technical__begin
      subgraph flow_economic["the flow economic"]
        economic__begin([start])
        economic__work["economic-agent: analyse"]
        economic__begin --> economic__work
        economic__done(["end"])
        economic__work --> economic__done
      end
      analyse_economic_agent -.-> economic__begin
      subgraph flow_social["the flow social"]
        social__begin([start])
        social__work["social-cultural-agent: analyse"]
        social__begin --> social__work
        social__done(["end"])
        social__work --> social__done
      end
      analyse_social_cultural_agent -.-> social__begin
    "#);
    insta::assert_snapshot!(project.said("orchestrators new mine.yaml"), @"
    exit code 2
    -- stderr --
    error: mine.yaml is no name for an orchestrator
    hint: take one like mine.json: a-z, 0-9, - and _
    ");
}
