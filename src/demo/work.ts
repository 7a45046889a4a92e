/**
 * The work of the example company: pieces of work, each a few commands of the shipped catalog's
 * capabilities in the order in which a person would run them.
 */
import type { Craft } from "./cast.ts";

/** The place of a piece of work: an environment, or a service's repository. */
export type Place = "prod" | "staging" | "repository";

/** A piece of work. */
export interface Task {
  readonly place: Place;
  /** How often it is done, relative to other work of its craft. */
  readonly weight: number;
  /** Ids of capabilities. */
  readonly steps: readonly string[];
}

const k8s = (...names: readonly string[]): readonly string[] => names.map((n) => `kubernetes/${n}`);
const git = (...names: readonly string[]): readonly string[] => names.map((n) => `git/${n}`);
const github = (...names: readonly string[]): readonly string[] => names.map((n) => `github/${n}`);
const terraform = (...names: readonly string[]): readonly string[] =>
  names.map((n) => `terraform/${n}`);

const CODING: readonly Task[] = [
  {
    place: "repository",
    weight: 5,
    steps: git("pull_branch", "create_branch", "show_status", "add_file", "create_commit"),
  },
  {
    place: "repository",
    weight: 5,
    steps: ["npm/install_locked", "npm/run_script", ...git("show_diff", "create_commit")],
  },
  {
    place: "repository",
    weight: 4,
    steps: [
      ...git("push_branch"),
      ...github("create_pull_request", "list_checks", "view_pull_request"),
    ],
  },
  {
    place: "repository",
    weight: 3,
    steps: ["go/test_packages", "go/vet_packages", "git/show_log"],
  },
  {
    place: "repository",
    weight: 3,
    steps: github("list_pull_requests", "diff_pull_request", "approve_pull_request"),
  },
  {
    place: "repository",
    weight: 2,
    steps: [...github("list_checks", "merge_pull_request"), "git/pull_branch"],
  },
  {
    place: "repository",
    weight: 2,
    steps: ["docker/build_image", "docker/run_container", "docker/read_logs"],
  },
  { place: "repository", weight: 1.1, steps: git("rebase_branch", "overwrite_branch") },
];

const LOOKING: readonly Task[] = [
  { place: "prod", weight: 4, steps: k8s("list_pods", "read_logs", "describe_pod") },
  { place: "staging", weight: 4, steps: k8s("list_deployments", "list_events", "read_logs") },
  { place: "prod", weight: 2, steps: ["helm/list_releases", "helm/show_history"] },
];

const RELEASING: readonly Task[] = [
  {
    place: "staging",
    weight: 3,
    steps: ["helm/render_chart", "helm/upgrade_release", "kubernetes/watch_rollout"],
  },
  { place: "staging", weight: 2, steps: k8s("diff_manifest", "apply_manifest", "watch_rollout") },
  { place: "prod", weight: 1.5, steps: ["helm/get_values", "helm/upgrade_release"] },
  { place: "prod", weight: 1.1, steps: k8s("read_logs", "exec_command") },
];

const APPLICATION: readonly Task[] = [
  ...CODING,
  ...LOOKING,
  ...RELEASING,
  { place: "staging", weight: 1.3, steps: ["vault/list_secrets", "vault/get_secret"] },
  { place: "staging", weight: 0.7, steps: k8s("list_pods", "delete_namespace") },
];

const PLATFORM: readonly Task[] = [
  {
    place: "staging",
    weight: 4,
    steps: terraform("init_directory", "validate_configuration", "plan_changes", "apply_changes"),
  },
  { place: "prod", weight: 2, steps: terraform("init_directory", "plan_changes", "read_outputs") },
  { place: "prod", weight: 1.1, steps: terraform("plan_changes", "apply_changes") },
  { place: "prod", weight: 2, steps: k8s("list_nodes", "list_events", "cordon_node") },
  { place: "prod", weight: 1.5, steps: k8s("read_logs", "restart_deployment", "watch_rollout") },
  { place: "prod", weight: 1, steps: k8s("list_deployments", "scale_deployment", "list_pods") },
  { place: "prod", weight: 1, steps: ["aws/list_instances", "aws/list_databases"] },
  { place: "prod", weight: 1, steps: ["argocd/list_applications", "argocd/get_application"] },
  { place: "staging", weight: 1.1, steps: terraform("show_state", "destroy_infrastructure") },
  ...LOOKING,
  ...CODING.slice(0, 4),
];

const DATA: readonly Task[] = [
  { place: "staging", weight: 4, steps: ["postgresql/list_databases", "postgresql/run_query"] },
  { place: "staging", weight: 2, steps: ["aws/list_objects", "aws/copy_object"] },
  { place: "staging", weight: 2, steps: ["kafka/list_topics", "kafka/describe_group"] },
  { place: "staging", weight: 1, steps: ["redis/show_memory", "redis/scan_keys", "redis/get_key"] },
  { place: "prod", weight: 2, steps: ["gcp/list_buckets", "gcp/read_logs"] },
  {
    place: "staging",
    weight: 1.1,
    steps: ["postgresql/dump_database", "postgresql/drop_database"],
  },
  { place: "staging", weight: 0.9, steps: ["kafka/describe_group", "kafka/reset_offsets"] },
  { place: "prod", weight: 0.9, steps: ["postgresql/check_server", "postgresql/run_script"] },
  ...CODING.slice(0, 3),
];

const SECURITY: readonly Task[] = [
  { place: "repository", weight: 3, steps: ["trivy/scan_image", "trivy/scan_configuration"] },
  { place: "repository", weight: 2, steps: ["snyk/test_dependencies", "npm/audit_dependencies"] },
  {
    place: "prod",
    weight: 3,
    steps: ["vault/show_status", "vault/list_secrets", "vault/read_policy"],
  },
  {
    place: "prod",
    weight: 2,
    steps: ["aws/list_users", "aws/list_roles", "aws/list_security_groups"],
  },
  { place: "prod", weight: 2, steps: ["gcp/get_iam_policy", "gcp/list_service_accounts"] },
  { place: "prod", weight: 1, steps: ["openssl/inspect_connection", "openssl/show_certificate"] },
  ...CODING.slice(4, 6),
];

const REVIEWING: readonly Task[] = [
  {
    place: "repository",
    weight: 6,
    steps: github(
      "list_pull_requests",
      "checkout_pull_request",
      "diff_pull_request",
      "list_checks",
    ),
  },
  {
    place: "repository",
    weight: 4,
    steps: ["npm/install_locked", "npm/run_script", "git/show_log"],
  },
  {
    place: "repository",
    weight: 3,
    steps: ["git/blame_file", "git/show_commit", "github/comment_issue"],
  },
  {
    place: "repository",
    weight: 3,
    steps: [...git("create_branch", "create_commit", "push_branch"), "github/create_pull_request"],
  },
  { place: "repository", weight: 2, steps: ["trivy/scan_directory", "snyk/test_code"] },
  { place: "repository", weight: 2, steps: github("list_checks", "merge_pull_request") },
  { place: "repository", weight: 0.9, steps: github("view_pull_request", "approve_pull_request") },
];

const INCIDENTS: readonly Task[] = [
  { place: "prod", weight: 5, steps: k8s("list_events", "list_pods", "describe_pod", "read_logs") },
  { place: "prod", weight: 3, steps: ["gcp/read_logs", "aws/list_instances", "helm/show_history"] },
  { place: "staging", weight: 2, steps: k8s("read_logs", "restart_deployment", "watch_rollout") },
  { place: "prod", weight: 1.8, steps: k8s("read_logs", "restart_deployment") },
  { place: "prod", weight: 1.1, steps: ["helm/show_history", "helm/rollback_release"] },
  { place: "prod", weight: 0.9, steps: k8s("describe_pod", "exec_command") },
  { place: "repository", weight: 1, steps: github("create_issue", "comment_issue") },
];

const COSTS: readonly Task[] = [
  {
    place: "prod",
    weight: 4,
    steps: ["aws/list_instances", "aws/list_databases", "aws/list_buckets"],
  },
  { place: "staging", weight: 3, steps: ["gcp/list_instances", "gcp/list_sql_instances"] },
  { place: "staging", weight: 2, steps: terraform("list_resources", "show_state", "plan_changes") },
  { place: "staging", weight: 1.1, steps: ["aws/list_instances", "aws/terminate_instance"] },
  { place: "staging", weight: 0.9, steps: k8s("list_deployments", "scale_deployment") },
];

const DEPLOY: readonly Task[] = [
  {
    place: "repository",
    weight: 7,
    steps: ["git/clone_repository", "npm/install_locked", "npm/run_script", "go/test_packages"],
  },
  {
    place: "repository",
    weight: 4,
    steps: ["docker/build_image", "trivy/scan_image", "docker/push_image"],
  },
  {
    place: "staging",
    weight: 3,
    steps: [
      "vault/get_secret",
      "helm/upgrade_release",
      "kubernetes/watch_rollout",
      "helm/test_release",
    ],
  },
  {
    place: "prod",
    weight: 2,
    steps: ["vault/get_secret", "helm/upgrade_release", "kubernetes/watch_rollout"],
  },
  {
    place: "prod",
    weight: 1.5,
    steps: terraform("init_directory", "plan_changes", "apply_changes"),
  },
  { place: "staging", weight: 0.15, steps: ["helm/list_releases", "helm/uninstall_release"] },
];

/** The work of each craft. */
export const WORK: Readonly<Record<Craft, readonly Task[]>> = {
  application: APPLICATION,
  platform: PLATFORM,
  data: DATA,
  security: SECURITY,
  reviewing: REVIEWING,
  incidents: INCIDENTS,
  costs: COSTS,
  deploy: DEPLOY,
};
