import type { Constraint } from '../document/placement.js';
import type { Service } from '../document/service.js';
import type { Task } from '../document/task.js';
import { servicesOf, type TaskGroup } from '../document/task-group.js';

/**
 * The group with the constraints that its contents imply (job interface, implied constraints): a task that renders secrets
 * needs a node that has the secrets agent, a bridge network needs the network plugins, and so on. Constraints that the
 * author wrote for the same attribute win where the rule says so; doing it twice is doing it once.
 */
export function withImpliedConstraints(group: TaskGroup): TaskGroup {
  const Constraints = withConstraints(group.Constraints, impliedConstraints(group));
  const Tasks = group.Tasks.map(withConstraintsOfTask);
  return { ...group, Constraints, Tasks };
}

/** The services of a task ask for the catalogue on the task itself. */
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
  /** `attribute`: any constraint on the same attribute stands in for it. `identical`: only the same constraint does. */
  readonly match: 'attribute' | 'identical';
}

function impliedConstraints(group: TaskGroup): Implied[] {
  const implied: Implied[] = [];
  const attribute = (LTarget: string, Operand: string, RTarget: string) =>
    implied.push({ constraint: { LTarget, RTarget, Operand }, match: 'attribute' });
  const identical = (LTarget: string, Operand: string, RTarget: string) =>
    implied.push({ constraint: { LTarget, RTarget, Operand }, match: 'identical' });

  const services = servicesOf(group);
  const nomadServices = services.filter((service) => service.Provider === 'nomad');

  if (group.Tasks.some((task) => task.Vault !== null)) attribute(attr('vault.version'), 'semver', '>= 0.6.1');
  const signals = signalsOf(group.Tasks);
  if (signals.length > 0) identical(attr('os.signals'), 'set_contains', signals.join(','));
  if (nomadServices.length > 0) identical(attr('nomad.service_discovery'), '=', 'true');
  if (nomadServices.some((service) => service.Checks !== null)) identical(attr('nomad.version'), 'semver', '>= 1.4.0');
  if (group.Services?.some(isInCatalogue) === true) implied.push({ constraint: needsCatalogue, match: 'attribute' });
  for (const provider of secretProviders(group.Tasks)) {
    attribute(attr(`plugins.secrets.${provider}.version`), 'is_set', '');
  }
  if (group.Networks?.some((network) => network.Mode === 'bridge') === true) {
    for (const plugin of ['bridge', 'firewall', 'host-local', 'loopback', 'portmap']) {
      attribute(attr(`plugins.cni.version.${plugin}`), 'semver', '>= 0.4.0');
    }
  }
  if (group.Services?.some(usesTransparentProxy) === true) {
    attribute(attr('plugins.cni.version.consul-cni'), 'semver', '>= 1.4.2');
    attribute(attr('nomad.version'), 'semver', '>= 1.8.0-dev');
  }
  for (const partition of partitions(group)) identical(attr('consul.partition'), '=', partition);
  if (hasOwnIdentity(group, services)) identical(attr('nomad.version'), 'semver', '>= 1.7.0-a');
  return implied;
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

/** Every signal that a template, a secrets lease or a stop may send, each once, in order. */
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

/** Every provider of secrets once, in the order of the tasks. */
function secretProviders(tasks: readonly Task[]): Set<string> {
  const providers = new Set<string>();
  for (const task of tasks) for (const { Provider } of task.Secrets ?? []) providers.add(Provider);
  return providers;
}

function partitions(group: TaskGroup): Set<string> {
  const found = new Set<string>();
  for (const { Consul } of [group, ...group.Tasks]) {
    if (Consul !== null && Consul.Partition !== '') found.add(Consul.Partition);
  }
  return found;
}

function hasOwnIdentity(group: TaskGroup, services: readonly Service[]): boolean {
  return (
    group.Tasks.some((task) => (task.Identities?.length ?? 0) > 0) ||
    services.some((service) => service.Identity !== null)
  );
}
