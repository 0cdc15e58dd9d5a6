import type { Result } from 'neverthrow';
import type { Job } from '../document/job.js';
import type { Constraint } from '../document/placement.js';
import type { Service } from '../document/service.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import type { AdmissionRefused } from '../errors.js';
import { withExposedChecks, withServiceMesh } from './service-mesh.js';

/**
 * The group with the constraints that its contents imply (job interface, implied constraints): a task that renders secrets
 * needs a node that has the secrets agent, a bridge network needs the network plugins, and so on. Constraints that the
 * author wrote for the same attribute win where the rule says so. Applying it twice has no further effect.
 */
function withImpliedConstraints(group: TaskGroup): TaskGroup {
  const Constraints = withConstraints(group.Constraints, impliedConstraints(group));
  const Tasks = group.Tasks.map(withConstraintsOfTask);
  return { ...group, Constraints, Tasks };
}

/** The constraints that the services of a task imply are added to the task. */
function withConstraintsOfTask(task: Task): Task {
  if (task.Services?.some(isInCatalogue) !== true) return task;
  return {
    ...task,
    Constraints: withConstraints(task.Constraints, [{ constraint: needsCatalogue, match: 'attribute' }]),
  };
}

function withConstraints(own: readonly Constraint[] | null, implied: readonly Implied[]): readonly Constraint[] | null {
  if (implied.length === 0) return own;
  const constraints: Constraint[] = [...(own ?? [])];
  for (const { constraint, match } of implied) {
    const present = match === 'attribute' ? constraints.some((one) => one.LTarget === constraint.LTarget) : false;
    if (!present && !constraints.some((one) => isSame(one, constraint))) constraints.push(constraint);
  }
  return constraints;
}

interface Implied {
  readonly constraint: Constraint;
  /** `attribute`: any constraint on the same attribute replaces it. `identical`: only the same constraint does. */
  readonly match: 'attribute' | 'identical';
}

function impliedConstraints(group: TaskGroup): Implied[] {
  const implied: Implied[] = [];
  for (const implication of implications) implied.push(...implication(group));
  return implied;
}

/** The constraints implied by each kind of content, in the order in which they are added. */
const implications: readonly ((group: TaskGroup) => readonly Implied[])[] = [
  ({ Tasks }) => (Tasks.some(({ Vault }) => Vault !== null) ? [attribute('vault.version', 'semver', '>= 0.6.1')] : []),
  ({ Tasks }) => {
    const signals = signalsOf(Tasks);
    return signals.length > 0 ? [identical('os.signals', 'set_contains', signals.join(','))] : [];
  },
  (group) => (anyService(group, isOwn) ? [identical('nomad.service_discovery', '=', 'true')] : []),
  (group) =>
    anyService(group, (service) => isOwn(service) && service.Checks !== null)
      ? [identical('nomad.version', 'semver', '>= 1.4.0')]
      : [],
  ({ Services }) =>
    Services?.some(isInCatalogue) === true ? [{ constraint: needsCatalogue, match: 'attribute' }] : [],
  ({ Tasks }) =>
    [...secretProviders(Tasks)].map((provider) => attribute(`plugins.secrets.${provider}.version`, 'is_set', '')),
  ({ Networks }) => (Networks?.some(({ Mode }) => Mode === 'bridge') === true ? bridgePlugins : []),
  ({ Services }) => (Services?.some(usesTransparentProxy) === true ? transparentProxy : []),
  (group) => [...partitions(group)].map((partition) => identical('consul.partition', '=', partition)),
  (group) => (hasOwnIdentity(group) ? [identical('nomad.version', 'semver', '>= 1.7.0-a')] : []),
];

const bridgePlugins = ['bridge', 'firewall', 'host-local', 'loopback', 'portmap'].map((plugin) =>
  attribute(`plugins.cni.version.${plugin}`, 'semver', '>= 0.4.0'),
);

const transparentProxy = [
  attribute('plugins.cni.version.consul-cni', 'semver', '>= 1.4.2'),
  attribute('nomad.version', 'semver', '>= 1.8.0-dev'),
];

function attribute(name: string, Operand: string, RTarget: string): Implied {
  return { constraint: { LTarget: attr(name), RTarget, Operand }, match: 'attribute' };
}

function identical(name: string, Operand: string, RTarget: string): Implied {
  return { constraint: { LTarget: attr(name), RTarget, Operand }, match: 'identical' };
}

/** Whether the built-in catalogue registers the service. */
function isOwn({ Provider }: Service): boolean {
  return Provider === 'nomad';
}

/** Whether the condition holds for a service of the group or of its tasks. */
function anyService({ Services, Tasks }: TaskGroup, isSo: (service: Service) => boolean): boolean {
  return Services?.some(isSo) === true || Tasks.some((task) => task.Services?.some(isSo) === true);
}

const needsCatalogue: Constraint = { LTarget: attr('consul.version'), RTarget: '>= 1.8.0', Operand: 'semver' };

function isInCatalogue(service: Service): boolean {
  return service.Provider === 'consul';
}

/** The interpolation that names a node attribute in a constraint. */
function attr(name: string): string {
  return `\${attr.${name}}`;
}

function isSame(a: Constraint, b: Constraint): boolean {
  return a.LTarget === b.LTarget && a.RTarget === b.RTarget && a.Operand === b.Operand;
}

/** Every signal that a template, a secrets lease or a stop may send, without duplicates, sorted. */
function signalsOf(tasks: readonly Task[]): string[] {
  const signals = new Set<string>();
  for (const task of tasks) {
    if (task.KillSignal !== '') signals.add(task.KillSignal);
    if (task.Vault?.ChangeMode === 'signal') signals.add(task.Vault.ChangeSignal);
    for (const template of task.Templates ?? []) {
      if (template.ChangeMode === 'signal') signals.add(template.ChangeSignal);
    }
  }
  return [...signals].sort();
}

function usesTransparentProxy(service: Service): boolean {
  return (service.Connect?.SidecarService?.Proxy?.TransparentProxy ?? null) !== null;
}

/** All providers of secrets without duplicates, in the order of the tasks. */
function secretProviders(tasks: readonly Task[]): Set<string> {
  const providers = new Set<string>();
  for (const task of tasks) for (const { Provider } of task.Secrets ?? []) providers.add(Provider);
  return providers;
}

function partitions(group: TaskGroup): Set<string> {
  const found = new Set<string>();
  const look = ({ Consul }: TaskGroup | Task): void => {
    if (Consul !== null && Consul.Partition !== '') found.add(Consul.Partition);
  };
  look(group);
  group.Tasks.forEach(look);
  return found;
}

function hasOwnIdentity(group: TaskGroup): boolean {
  return (
    group.Tasks.some((task) => (task.Identities?.length ?? 0) > 0) ||
    anyService(group, (service) => service.Identity !== null)
  );
}

/** The installation's additions to a registered job. */
export interface InstallationDefaults {
  /** The region that replaces `global`. */
  readonly region: string;
}

/**
 * A canonical job with the additions of a registration (job interface, register pipeline): the installation's region and
 * node pool, the proxies of mesh services, the paths of exposed checks, and the constraints that the contents imply.
 * Planning and registering admit a job in the same way; admitting an admitted job changes nothing.
 */
export function admitJob(job: Job, installation: InstallationDefaults): Result<Job, AdmissionRefused> {
  return withServiceMesh(job)
    .andThen(withExposedChecks)
    .map((meshed) => ({
      ...meshed,
      Region: regionOf(job, installation),
      NodePool: job.NodePool === '' ? 'default' : job.NodePool,
      TaskGroups: meshed.TaskGroups.map(withImpliedConstraints),
    }));
}

/** A multi-region job keeps `global`, which means any region. */
function regionOf(job: Job, installation: InstallationDefaults): string {
  if (job.Multiregion !== null) return 'global';
  return job.Region === 'global' ? installation.region : job.Region;
}
