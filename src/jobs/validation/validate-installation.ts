import { quoted } from '../../shared/values.js';
import type { Job } from '../document/job.js';
import type { ConsulBlock } from '../document/policies.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import { listed, type Report } from './problems.js';

/** The installation's data for checks of a job. Absent members are not checked. */
export interface InstallationContext {
  readonly hasNamespace?: (name: string) => boolean;
  /** Called for every pool except the built-in `default` and `all`. */
  readonly hasNodePool?: (name: string) => boolean;
  readonly allowsDriver?: (driver: string) => boolean;
  /** The empty mode counts as `host`. */
  readonly allowsNetworkMode?: (mode: string) => boolean;
}

/** Checks against the state of the installation. */
export function validateInstallation(job: Job, context: InstallationContext, report: Report): void {
  validateVaults(job, report);
  validateCatalogues(job, report);
  if (context.hasNamespace?.(job.Namespace) === false) report(`the namespace ${quoted(job.Namespace)} does not exist`);
  if (context.allowsDriver !== undefined) {
    const refused = differing(driversOf(job), context.allowsDriver);
    if (refused.length > 0) report(`the namespace does not allow the drivers ${listed(refused)}`);
  }
  if (context.allowsNetworkMode !== undefined) {
    const refused = differing(networkModesOf(job), context.allowsNetworkMode);
    if (refused.length > 0) report(`the namespace does not allow the network modes ${listed(refused)}`);
  }
  const isBuiltInPool = job.NodePool === 'default' || job.NodePool === 'all';
  if (!isBuiltInPool && context.hasNodePool?.(job.NodePool) === false) {
    report(`the node pool ${quoted(job.NodePool)} does not exist`);
  }
}

/** Signalbox does not support Vault. */
function validateVaults(job: Job, report: Report): void {
  const first = firstOf(job.TaskGroups, ({ Tasks }) => Tasks.find(({ Vault }) => Vault !== null));
  if (first !== undefined)
    report(`Signalbox does not support Vault: remove the vault block (cluster ${quoted(first.Vault?.Cluster ?? '')})`);
}

/** The service catalogue has one cluster. */
function validateCatalogues(job: Job, report: Report): void {
  for (const group of job.TaskGroups) {
    const problem = catalogueProblem(group, group) ?? firstOf(group.Tasks, (task) => catalogueProblem(group, task));
    if (problem === undefined) continue;
    report(problem);
    return;
  }
}

function catalogueProblem(group: TaskGroup, { Consul, Services }: TaskGroup | Task): string | undefined {
  return (
    clusterProblem(Consul) ??
    firstOf(Services ?? [], (service) => (service.Provider === 'consul' ? clusterProblem(service) : undefined)) ??
    partitionProblem(group, Consul)
  );
}

/** The first result that is not undefined. */
function firstOf<T, A>(elements: readonly T[], answerFor: (element: T) => A | undefined): A | undefined {
  for (const element of elements) {
    const answer = answerFor(element);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function clusterProblem(member: { readonly Cluster: string } | null): string | undefined {
  if (member === null || member.Cluster === '' || member.Cluster === 'default') return undefined;
  return `only the Consul cluster "default" is supported, not ${quoted(member.Cluster)}`;
}

function partitionProblem(group: TaskGroup, consul: ConsulBlock | null): string | undefined {
  const partition = consul?.Partition ?? '';
  const ofGroup = group.Consul?.Partition ?? '';
  if (partition === '' || ofGroup === '' || partition === ofGroup) return undefined;
  return `group ${quoted(group.Name)}: the Consul partition of a task differs from the group's`;
}

/** Unsupported features, each reported once for the job. */
export function validateSupported(job: Job, report: Report): void {
  for (const group of job.TaskGroups) for (const task of group.Tasks) validateVaultIdentity(task, report);
  const anyTask = (isSo: (task: Task) => boolean): boolean => job.TaskGroups.some(({ Tasks }) => Tasks.some(isSo));
  if (anyTask(({ Resources }) => (Resources.NUMA?.Affinity ?? 'none') !== 'none')) {
    report('Signalbox does not support NUMA affinity');
  }
  if (anyTask(({ Schedule }) => Schedule !== null)) report('Signalbox does not support task schedules');
  if (job.TaskGroups.some((group) => group.Services?.some((service) => service.Connect?.Gateway != null) === true)) {
    report('Signalbox does not support gateways of a service mesh');
  }
}

function validateVaultIdentity({ Name, Vault, Identities }: Task, report: Report): void {
  const cluster = Vault?.Cluster ?? 'default';
  if (cluster === 'default' || Identities?.some((identity) => identity.Name === `vault_${cluster}`) === true) return;
  report(`task ${quoted(Name)}: the Vault cluster ${quoted(cluster)} needs an identity named vault_${cluster}`);
}

function tasksOf(job: Job): Task[] {
  return job.TaskGroups.flatMap((group) => group.Tasks);
}

function driversOf(job: Job): string[] {
  return tasksOf(job).flatMap(({ Driver }) => (Driver === '' ? [] : [Driver]));
}

function networkModesOf(job: Job): string[] {
  return job.TaskGroups.flatMap((group) => (group.Networks ?? []).map((network) => network.Mode ?? 'host'));
}

/** The names that are not allowed, without duplicates. */
function differing(names: readonly string[], allows: (name: string) => boolean): string[] {
  return [...new Set(names)].filter((name) => !allows(name));
}
