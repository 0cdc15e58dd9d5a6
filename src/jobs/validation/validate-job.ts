import { compilingTime, programBound } from '../../shared/regular-expression.js';
import { quoted } from '../../shared/values.js';
import { type Job, jobBlock, parameterizedBlock } from '../document/job.js';
import type { Affinity, Constraint, Spread } from '../document/placement.js';
import type { ConsulBlock } from '../document/policies.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import { periodicProblems } from '../periodic/validate-periodic.js';
import { type WarningContext, warnAboutJob } from './job-warnings.js';
import {
  choiceProblem,
  gatherProblems,
  listed,
  type Problems,
  problemsOf,
  type Report,
  reportIf,
  textsByPart,
} from './problems.js';
import { validateGroup } from './validate-group.js';
import { validateMesh } from './validate-services.js';
import { validateAffinities, validateConstraints, validateSpreads } from './validate-shared-blocks.js';
import { validateJobId, validateMeta, validateName } from './validate-strings.js';

/** The host's data for checks of a job. Absent members are not checked. */
export interface ValidationContext extends InstallationContext, WarningContext {
  /** The maximum sum of all counts; 50,000 when absent. */
  readonly maximumCount?: number;
}

/** All problems of a job, and the warnings for its author. */
export interface JobProblems {
  /** One sentence for each problem, with its location; empty when the job may be registered. */
  readonly errors: readonly string[];
  /** The same, grouped by part of the job, as the job interface lists them. */
  readonly errorsByPart: readonly string[];
  readonly warnings: readonly string[];
  readonly warningsByPart: readonly string[];
}

/**
 * All errors and warnings of an admitted job at once (job interface, validation); for a job that is too large to be checked, only
 * that error. Layout: `errorsText`, `warningsText`. Never throws, whatever the document contains.
 */
export function validateJob(job: Job, context: ValidationContext = {}): JobProblems {
  const problems = gatherProblems();
  if (!validateWork(job, problems.report)) {
    return {
      errors: problemsOf(problems.parts),
      errorsByPart: textsByPart(problems.parts),
      warnings: [],
      warningsByPart: [],
    };
  }
  validateMesh(job, problems.report);
  validateInstallation(job, context, problems.report);
  validateHead(job, problems);
  validateJobPlacement(job, problems);
  validateGroups(job, problems);
  validateKind(job, problems);
  validateTotals(job, context, problems.report);
  validateSupported(job, problems.report);
  const warnings = gatherProblems();
  warnAboutJob(job, context, warnings);
  return {
    errors: problemsOf(problems.parts),
    errorsByPart: textsByPart(problems.parts),
    warnings: problemsOf(warnings.parts),
    warningsByPart: textsByPart(warnings.parts),
  };
}

function validateHead(job: Job, { report }: Problems): void {
  const type: string = job.Type;
  if (job.Region === '') report('the job has no region');
  validateJobId(job.ID, report);
  if (job.Name === '') report('the job has no name');
  else if (job.Name.includes('\0')) report('the job name must not contain NUL');
  if (job.Namespace === '') report('the job has no namespace');
  if (type === '') report('the job has no type');
  else reportIf(report, choiceProblem('the type', jobBlock.fields.Type, type));
  for (const datacenter of job.Datacenters) {
    if (datacenter === '') report('a datacenter must not be empty');
  }
  validateDescriptions(job, report);
  validateMeta(job, report);
}

function validateDescriptions(job: Job, report: Report): void {
  if (isLongerThan(1000, job.UI?.Description ?? ''))
    report('the description for the web interface is longer than 1000 bytes');
  if (isLongerThan(1000, job.VersionTag?.Description ?? ''))
    report('the description of the version tag is longer than 1000 bytes');
}

function validateJobPlacement(job: Job, problems: Problems): void {
  validateConstraints(job.Constraints, 'job', problems.within);
  if (job.Type === 'system') {
    if (job.Affinities !== null) problems.report('a system job cannot have affinities');
    if (job.Spreads !== null) problems.report('a system job cannot have spreads');
    return;
  }
  validateAffinities(job.Affinities, problems.within);
  validateSpreads(job.Spreads, problems.within);
}

/** Checks combinations with the type of the job. */
function validateKind(job: Job, problems: Problems): void {
  const isBatch = job.Type === 'batch' || job.Type === 'sysbatch';
  if (job.Periodic?.Enabled === true) {
    if (!isBatch) problems.report('only batch and sysbatch jobs can be periodic');
    periodicProblems(job.Periodic).forEach(problems.within('periodic'));
  }
  if (job.ParameterizedJob !== null) {
    if (!isBatch) problems.report('only batch and sysbatch jobs can be parameterized');
    validateParameterized(job.ParameterizedJob, problems.within('parameterized'));
  }
  if (job.Multiregion !== null && job.Multiregion.Regions.length > 0) {
    problems.report('Signalbox does not support jobs over several regions');
  }
}

function validateParameterized(config: NonNullable<Job['ParameterizedJob']>, report: Report): void {
  reportIf(report, choiceProblem('payload', parameterizedBlock.fields.Payload, config.Payload));
  const required = new Set(config.MetaRequired ?? []);
  const both = (config.MetaOptional ?? []).filter((key) => required.has(key));
  if (both.length > 0) report(`meta keys must be required or optional, not both: ${listed(both)}`);
}

function validateGroups(job: Job, problems: Problems): void {
  if (job.TaskGroups.length === 0) problems.report('the job has no task groups');
  const first = new Map<string, number>();
  for (const [index, group] of job.TaskGroups.entries()) {
    const earlier = first.get(group.Name);
    const location = `group ${quoted(group.Name)}`;
    if (group.Name === '') problems.report(`group ${index + 1} has no name`);
    else if (earlier !== undefined) {
      problems.report(`${location}: the name is used twice, by the groups ${earlier + 1} and ${index + 1}`);
    }
    first.set(group.Name, earlier ?? index);
    if (group.ShutdownDelay !== null && group.ShutdownDelay < 0) {
      problems.report(`${location}: shutdown_delay must not be negative`);
    }
    if (job.Type === 'system' && group.Count > 1) {
      problems.report(`${location}: a system job runs at most 1 of each group on a node, not ${group.Count}`);
    }
  }
  for (const [index, group] of job.TaskGroups.entries()) {
    const at = group.Name === '' ? problems.within(`group ${index + 1}`) : problems.within('group', group.Name);
    validateName(group.Name, at);
    validateGroup(group, job, at);
  }
}

function validateTotals(job: Job, context: ValidationContext, report: Report): void {
  if (job.Payload !== null && job.Payload !== '') report('a payload is given at dispatch, not at registration');
  if (job.Priority < 1 || job.Priority > 100) report(`the priority must be from 1 to 100, not ${job.Priority}`);
  const total = job.TaskGroups.reduce((sum, group) => sum + group.Count, 0);
  const maximum = context.maximumCount ?? 50_000;
  if (total > maximum) report(`the counts of the groups add up to ${total}, more than the allowed ${maximum}`);
}

/** Whether the string is longer than `bytes` in UTF-8. */
function isLongerThan(bytes: number, text: string): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
}

/*
 * Bounds of the validation, planning and scheduling work of one job where it grows faster than the document: the job's rules
 * apply to each of its groups, and an expression of twenty characters takes milliseconds to compile. Decoding bounds the document
 * itself. A job beyond these bounds is refused before any such work is done.
 */

/** The maximum number of constraints, affinities, spreads and their targets; those of the job count once per group. */
const maximumRules = 50_000;
/** The maximum number of meta entries of all tasks; those of the job and the group count once per task. */
const maximumMeta = 500_000;
/** The maximum number of distinct regular expressions and version constraints, so that the cache of compiled ones holds all of a job's. */
const maximumExpressions = 200;
/** The maximum estimated time, in microseconds, for compiling the regular expressions and matching those with a literal value. */
const maximumExpressionTime = 100_000;
const maximumSchedules = 100;

const bounds = [rulesProblem, metaProblem, expressionsProblem, schedulesProblem];

/** Whether the job stays within the bounds. */
function validateWork(job: Job, report: Report): boolean {
  let fits = true;
  for (const problemOf of bounds) {
    const problem = problemOf(job);
    if (problem === undefined) continue;
    report(problem);
    fits = false;
  }
  return fits;
}

interface Rules {
  readonly Constraints: readonly Constraint[] | null;
  readonly Affinities: readonly Affinity[] | null;
  readonly Spreads?: readonly Spread[] | null;
}

function rulesProblem(job: Job): string | undefined {
  let total = job.TaskGroups.length * rulesIn(job);
  for (const group of job.TaskGroups) {
    total += rulesIn(group);
    for (const task of group.Tasks) total += rulesIn(task);
  }
  if (total <= maximumRules) return undefined;
  return `at most ${maximumRules} constraints, affinities and spreads are allowed, counting those of the job for each group, not ${total}`;
}

function rulesIn({ Constraints, Affinities, Spreads = null }: Rules): number {
  let total = (Constraints?.length ?? 0) + (Affinities?.length ?? 0);
  if (Spreads !== null) for (const { SpreadTarget } of Spreads) total += 1 + (SpreadTarget?.length ?? 0);
  return total;
}

function metaProblem(job: Job): string | undefined {
  const own = entriesIn(job.Meta);
  let total = 0;
  for (const group of job.TaskGroups) total += group.Tasks.length * (own + entriesIn(group.Meta));
  if (total <= maximumMeta) return undefined;
  return `meta of the job and its groups has at most ${maximumMeta} entries, counted for each task, not ${total}`;
}

function entriesIn(map: Readonly<Record<string, string>> | null): number {
  let entries = 0;
  for (const _ in map) entries += 1;
  return entries;
}

function expressionsProblem(job: Job): string | undefined {
  const found = new Expressions();
  found.addAll(job);
  for (const group of job.TaskGroups) {
    found.addAll(group);
    for (const task of group.Tasks) {
      found.addAll(task);
      for (const device of task.Resources.Devices ?? []) found.addAll(device);
    }
  }
  if (found.different > maximumExpressions) {
    return `at most ${maximumExpressions} different regular expressions and version constraints can be used`;
  }
  return found.time > maximumExpressionTime ? 'the regular expressions would take too long to compile' : undefined;
}

/** The regular expressions and version constraints of a job, up to the bounds. */
class Expressions {
  /** Microseconds. */
  time = 0;
  #seen: Set<string> | undefined;

  get different(): number {
    return this.#seen?.size ?? 0;
  }

  addAll({ Constraints, Affinities }: Rules): void {
    if (Constraints !== null) for (const constraint of Constraints) this.#add(constraint);
    if (Affinities !== null) for (const affinity of Affinities) this.#add(affinity);
  }

  #add({ LTarget, RTarget, Operand }: Pick<Constraint, 'LTarget' | 'RTarget' | 'Operand'>): void {
    const isPattern = Operand === 'regexp';
    if (!isPattern && Operand !== 'version' && Operand !== 'semver') return;
    if (this.different > maximumExpressions || this.time > maximumExpressionTime) return;
    this.#seen ??= new Set();
    const key = `${Operand} ${RTarget}`;
    if (isPattern && !this.#seen.has(key)) this.time += compilingTime(RTarget);
    // The value of a reference is unknown here; matching is bounded at run time.
    if (isPattern && !LTarget.startsWith('$')) this.time += (programBound(RTarget) * LTarget.length) / 10;
    this.#seen.add(key);
  }
}

function schedulesProblem({ Periodic: periodic }: Job): string | undefined {
  const schedules = periodic?.Specs?.length ?? 0;
  return schedules <= maximumSchedules
    ? undefined
    : `a job has at most ${maximumSchedules} cron expressions, not ${schedules}`;
}

/** The installation's data for checks of a job. Absent members are not checked. */
interface InstallationContext {
  readonly hasNamespace?: (name: string) => boolean;
  /** Called for every pool except the built-in `default` and `all`. */
  readonly hasNodePool?: (name: string) => boolean;
  readonly allowsDriver?: (driver: string) => boolean;
  /** The empty mode counts as `host`. */
  readonly allowsNetworkMode?: (mode: string) => boolean;
}

/** Checks against the state of the installation. */
function validateInstallation(job: Job, context: InstallationContext, report: Report): void {
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
function validateSupported(job: Job, report: Report): void {
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

function driversOf(job: Job): string[] {
  const tasks = job.TaskGroups.flatMap((group) => group.Tasks);
  return tasks.flatMap(({ Driver }) => (Driver === '' ? [] : [Driver]));
}

function networkModesOf(job: Job): string[] {
  return job.TaskGroups.flatMap((group) => (group.Networks ?? []).map((network) => network.Mode ?? 'host'));
}

/** The names that are not allowed, without duplicates. */
function differing(names: readonly string[], allows: (name: string) => boolean): string[] {
  return [...new Set(names)].filter((name) => !allows(name));
}
