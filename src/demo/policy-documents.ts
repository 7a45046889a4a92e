/**
 * The versions of the example policy. Each is composed of the blocks below, so that two versions
 * differ exactly in what their description says.
 */

const HEAD = `# What runtimes may run at Example Works.
# Deny wins over allow, and what no rule names is denied. Change it by publishing the next version.
schema: signalbox/policy/v1
name: example-works
description: Who may run what, and where
default: deny

rules:`;

const READING = `
  # -- What everybody may do ------------------------------------------------------------------
  - id: read-anything
    effect: allow
    description: Looking at things is free, everywhere and for everybody.
    match:
      capabilities: ["*/list_*", "*/get_*", "*/show_*", "*/describe_*", "*/read_*", "*/view_*",
        "*/diff_*", "*/search_*", "*/check_*", "*/inspect_*", "*/watch_*", "*/plan_*",
        "*/init_*", "*/validate_*", "*/preview_*", "*/analyze_*", "*/verify_*", "*/lookup_*", "*/tail_*"]

  - id: develop
    effect: allow
    description: Work on source code, on one's own machine or in a session.
    match:
      providers: [git, github, npm, go, cargo, pip, docker, helm, openssl, ssh, curl]
      resources: ["example/*"]

  - id: check-and-scan
    effect: allow
    match:
      providers: [trivy, snyk]
`;

const STAGING = `
  # -- Environments -----------------------------------------------------------------------------
  - id: change-staging
    effect: allow
    description: Staging and development clusters are there to be changed.
    match:
      resources: ["staging/*", "dev/*"]
`;

const PRODUCTION_CLOSED = `
  - id: production-is-closed
    effect: deny
    description: Until pipelines have identities of their own, releases are made in the weekly window.
    reason: Production is closed for changes until pipelines may make them
    match:
      resources: ["prod/*"]
      capabilities: ["*/apply_*", "*/upgrade_*", "*/install_*", "*/sync_*", "*/deploy_*",
        "*/scale_*", "*/restart_*", "*/rollback_*", "*/run_*", "*/update_*", "*/exec_*"]
`;

const PRODUCTION = `
  - id: pipelines-deploy
    effect: allow
    description: Production is changed by pipelines, after review and with a record.
    match:
      consumers: [ci]
      resources: ["prod/*"]

  - id: production-by-pipeline
    effect: deny
    reason: Production is changed by pipelines; open a pull request
    match:
      consumers: [human, ai]
      resources: ["prod/*"]
      capabilities: ["*/apply_*", "*/upgrade_*", "*/install_*", "*/sync_*", "*/deploy_*",
        "*/run_script", "*/update_*"]

  - id: on-call-repairs
    effect: allow
    description: Who is on call may restart, scale and roll back.
    match:
      consumers: [human]
      executors: [liam.oconnor@*, hannah.kim@*, mei.tanaka@*]
      resources: ["prod/*"]
      capabilities: ["*/restart_*", "*/scale_*", "*/rollback_*", kubernetes/cordon_node]
`;

const AGENTS = `
  # -- Agents -----------------------------------------------------------------------------------
  - id: agents-plan-people-apply
    effect: deny
    reason: Agents read and plan; a person applies
    match:
      consumers: [ai]
      capabilities: ["*/apply_*", "*/upgrade_*", "*/install_release", "*/sync_*", "*/deploy_*",
        "*/scale_*", "*/rollback_*", "*/drain_*", kubernetes/delete_pod, redis/set_key]

  - id: agents-do-not-merge
    effect: deny
    reason: Agents propose changes; people merge and publish them
    match:
      consumers: [ai]
      capabilities: [github/merge_pull_request, github/approve_pull_request,
        github/create_release, git/overwrite_branch, "*/publish_*"]
`;

const AGENTS_DO_NOT_RESTART = `
  - id: agents-do-not-restart
    effect: deny
    reason: Agents do not restart services; page who is on call
    match:
      consumers: [ai]
      capabilities: ["*/restart_*"]
`;

const AGENTS_RESTART_STAGING = `
  - id: agents-do-not-restart
    effect: deny
    description: In staging they may, so that agent-incidents can try what it proposes.
    reason: Agents do not restart services in production; page who is on call
    match:
      consumers: [ai]
      resources: ["prod/*"]
      capabilities: ["*/restart_*"]
`;

const DELETING = `
  # -- What is hard to undo -----------------------------------------------------------------------
  # Since the outage of staging, in which a clean-up took a namespace that was in use.
  - id: nobody-deletes-by-hand
    effect: deny
    reason: Deleting data or infrastructure takes a ticket with two approvals
    match:
      capabilities: ["*/delete_namespace", "*/drop_*", "*/flush_*", "*/destroy_*", "*/purge_*",
        "*/delete_bucket", "*/terminate_*", "*/remove_volume", "*/delete_stack", "*/delete_topic",
        "*/uninstall_release", "*/delete_repository", "*/reset_offsets"]

  - id: history-of-main-stays
    effect: deny
    reason: The history of main is never rewritten
    match:
      commands: [{ glob: "git push --force* origin main*" }]
`;

const SECRETS_TOO_STRICT = `
  # -- Secrets ------------------------------------------------------------------------------------
  - id: secrets-are-not-read
    effect: deny
    reason: Secrets are not read through a command line
    match:
      capabilities: [vault/get_secret, vault/list_secrets, vercel/pull_variables,
        aws/get_parameter, ansible/view_file]
`;

const SECRETS = `
  # -- Secrets ------------------------------------------------------------------------------------
  - id: secrets-are-for-workloads
    effect: deny
    description: Listing shows names only, and pipelines read what they deploy with.
    reason: Secrets are read by pipelines and workloads; ask the security team
    match:
      consumers: [human, ai]
      capabilities: [vault/get_secret, vercel/pull_variables, ansible/view_file]

  - id: no-shell-in-production
    effect: deny
    reason: No shells in production; use the logs, or ask for a break-glass session
    match:
      consumers: [human, ai]
      resources: ["prod/*"]
      capabilities: ["*/exec_command", ssh/run_command, gcp/connect_instance]
`;

const TESTS_FIRST = `
# What must stay true; a version that breaks one of these cannot be published.
tests:
  - { command: kubectl get pods, capability: kubernetes/list_pods, consumer: ai, resource: prod/checkout, expect: allow }
  - { command: git push origin main, capability: git/push_branch, resource: example/checkout, expect: allow, rule: develop }
  - { command: helm upgrade web ./chart, capability: helm/upgrade_release, consumer: human, resource: staging/web, expect: allow, rule: change-staging }
  - { command: helm upgrade web ./chart, capability: helm/upgrade_release, consumer: human, resource: prod/web, expect: deny }
`;

const TESTS_PIPELINES = `  - { command: helm upgrade web ./chart, capability: helm/upgrade_release, consumer: ci, resource: prod/web, expect: allow, rule: pipelines-deploy }
  - { command: kubectl rollout restart deployment/web, capability: kubernetes/restart_deployment, consumer: human, executor: liam.oconnor@example.com, resource: prod/web, expect: allow, rule: on-call-repairs }
`;

const TESTS_AGENTS = `  - { command: terraform plan, capability: terraform/plan_changes, consumer: ai, resource: prod/network, expect: allow }
  - { command: terraform apply, capability: terraform/apply_changes, consumer: ai, resource: staging/network, expect: deny, rule: agents-plan-people-apply }
  - { command: gh pr merge 42 --squash, capability: github/merge_pull_request, consumer: ai, resource: example/web, expect: deny, rule: agents-do-not-merge }
`;

const TESTS_DELETING = `  - { command: kubectl delete namespace staging, capability: kubernetes/delete_namespace, consumer: human, resource: staging/web, expect: deny, rule: nobody-deletes-by-hand }
  - { command: git push --force-with-lease origin main, capability: git/overwrite_branch, resource: example/web, expect: deny, rule: history-of-main-stays }
`;

const TESTS_SECRETS = `  - { command: vault kv get -mount=secret web, capability: vault/get_secret, consumer: human, resource: prod/web, expect: deny, rule: secrets-are-for-workloads }
  - { command: vault kv get -mount=secret web, capability: vault/get_secret, consumer: ci, resource: prod/web, expect: allow }
`;

const TESTS_RESTART = `  - { command: kubectl rollout restart deployment/web, capability: kubernetes/restart_deployment, consumer: ai, executor: agent-incidents, resource: staging/web, expect: allow, rule: change-staging }
  - { command: kubectl rollout restart deployment/web, capability: kubernetes/restart_deployment, consumer: ai, executor: agent-incidents, resource: prod/web, expect: deny, rule: agents-do-not-restart }
`;

const PEOPLE = HEAD + READING + STAGING;
const BEFORE_AGENTS = PEOPLE + PRODUCTION;
const UP_TO_AGENTS = BEFORE_AGENTS + AGENTS + AGENTS_DO_NOT_RESTART;
const TESTS = TESTS_FIRST + TESTS_PIPELINES + TESTS_AGENTS;

/** The text of every version of the example policy, by its name. */
export const POLICY_TEXTS = {
  v1: PEOPLE + PRODUCTION_CLOSED + TESTS_FIRST,
  v2: BEFORE_AGENTS + TESTS_FIRST + TESTS_PIPELINES,
  v3: UP_TO_AGENTS + TESTS,
  v4: UP_TO_AGENTS + DELETING + TESTS + TESTS_DELETING,
  v5: UP_TO_AGENTS + DELETING + SECRETS_TOO_STRICT + TESTS + TESTS_DELETING,
  v6: UP_TO_AGENTS + DELETING + SECRETS + TESTS + TESTS_DELETING + TESTS_SECRETS,
  v7:
    BEFORE_AGENTS +
    AGENTS +
    AGENTS_RESTART_STAGING +
    DELETING +
    SECRETS +
    TESTS +
    TESTS_DELETING +
    TESTS_SECRETS +
    TESTS_RESTART,
} as const;
