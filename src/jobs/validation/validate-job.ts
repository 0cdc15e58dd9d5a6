import { type Job, jobTypes } from '../document/job.js';
import { warningsOf } from './job-warnings.js';
import { quoted, type Report, within } from './problem-texts.js';
import { validateGroup } from './validate-group.js';
import { type PatternChecks, validateAffinities, validateConstraints, validateSpreads } from './validate-placement.js';

/** What the host knows about the surroundings of a job. What is left out is not checked. */
export interface ValidationContext extends PatternChecks {
  /** Highest sum of all counts, 50 000 when left out. */
  readonly maximumCount?: number;
  /** Why the text is no cron expression. */
  readonly cronError?: (spec: string) => string | undefined;
  readonly isTimeZone?: (name: string) => boolean;
  readonly hasNamespace?: (name: string) => boolean;
  /** Asked for every pool but the built-in `default` and `all`. */
  readonly hasNodePool?: (name: string) => boolean;
  readonly allowsDriver?: (driver: string) => boolean;
  /** The empty mode is asked for as `host`. */
  readonly allowsNetworkMode?: (mode: string) => boolean;
  readonly hasVault?: boolean;
  readonly allowsMemoryOversubscription?: boolean;
}

export interface JobProblems {
  /** Empty when the job may be registered. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** All errors and warnings of a canonicalised job at once (job interface, validation); layout: `errorsText`, `warningsText`. */
export function validateJob(job: Job, context: ValidationContext = {}): JobProblems {
  const errors: string[] = [];
  const report: Report = (problem) => {
    errors.push(problem);
  };
  validateHead(job, context, report);
  validateJobPlacement(job, context, report);
  validateKind(job, context, report);
  validateGroups(job, context, report);
  validateSurroundings(job, context, report);
  return { errors, warnings: warningsOf(job, context.allowsMemoryOversubscription ?? true) };
}

function validateHead(job: Job, context: ValidationContext, report: Report): void {
  if (job.Region === '') report('the job has no region');
  if (job.ID === '') report('the job has no ID');
  else if (job.ID.includes(' ')) report('the job ID must not contain a space');
  if (job.ID.includes('\0')) report('the job ID must not contain NUL');
  if (job.Name === '') report('the job has no name');
  else if (job.Name.includes('\0')) report('the job name must not contain NUL');
  if (job.Namespace === '') report('the job has no namespace');
  if (job.Priority < 1 || job.Priority > 100) report(`the priority must be from 1 to 100, not ${job.Priority}`);
  if (job.Datacenters.includes('')) report('a datacenter must not be empty');
  if (isLongerThan(1000, job.UI?.Description ?? ''))
    report('the description for the web interface is longer than 1000 bytes');
  if (isLongerThan(1000, job.VersionTag?.Description ?? ''))
    report('the description of the version tag is longer than 1000 bytes');
  if (job.Payload !== null && job.Payload !== '') report('a payload is given at dispatch, not at registration');
  const total = job.TaskGroups.reduce((sum, group) => sum + group.Count, 0);
  const maximum = context.maximumCount ?? 50_000;
  if (total > maximum) report(`the counts of the groups sum up to ${total}, more than the allowed ${maximum}`);
}

function validateJobPlacement(job: Job, context: ValidationContext, report: Report): void {
  validateConstraints(job.Constraints, 'job', context, report);
  if (job.Type === 'system') {
    if (job.Affinities !== null) report('a system job takes no affinities');
    if (job.Spreads !== null) report('a system job takes no spreads');
    return;
  }
  validateAffinities(job.Affinities, context, report);
  validateSpreads(job.Spreads, report);
}

/** The type of the job, and what may be combined with it. */
function validateKind(job: Job, context: ValidationContext, report: Report): void {
  const type: string = job.Type;
  if (type === '') report('the job has no type');
  else if (!(jobTypes as readonly string[]).includes(type)) {
    report(`the type must be one of ${jobTypes.join(', ')}, not ${quoted(type)}`);
  }
  const isBatch = type === 'batch' || type === 'sysbatch';
  if (job.Periodic?.Enabled === true) {
    if (!isBatch) report('only batch and sysbatch jobs can be periodic');
    validatePeriodic(job.Periodic, context, within(report, 'periodic'));
  }
  if (job.ParameterizedJob !== null) {
    if (!isBatch) report('only batch and sysbatch jobs can be parameterized');
    validateParameterized(job.ParameterizedJob, within(report, 'parameterized'));
  }
  if (job.Multiregion !== null && job.Multiregion.Regions.length > 0) {
    report('jobs over several regions are not available in this edition');
  }
}

function validatePeriodic(periodic: NonNullable<Job['Periodic']>, context: ValidationContext, report: Report): void {
  const specs = periodic.Spec === '' ? periodic.Specs : [periodic.Spec];
  if (periodic.Spec !== '' && periodic.Specs.length > 0) report('cron and crons exclude each other');
  if (specs.length === 0) report('a cron expression is needed');
  if (periodic.SpecType !== 'cron') report(`the kind of schedule must be cron, not ${quoted(periodic.SpecType)}`);
  else if (context.cronError !== undefined) {
    for (const spec of [...specs, ...(periodic.Spec === '' ? [] : periodic.Specs)]) {
      const problem = context.cronError(spec);
      if (problem !== undefined) report(`${quoted(spec)} is no cron expression: ${problem}`);
    }
  }
  if (context.isTimeZone?.(periodic.TimeZone) === false) report(`unknown time zone ${quoted(periodic.TimeZone)}`);
}

function validateParameterized(config: NonNullable<Job['ParameterizedJob']>, report: Report): void {
  if (!['optional', 'required', 'forbidden'].includes(config.Payload)) {
    report(`payload must be optional, required or forbidden, not ${quoted(config.Payload)}`);
  }
  const required = new Set(config.MetaRequired ?? []);
  const both = (config.MetaOptional ?? []).filter((key) => required.has(key));
  if (both.length > 0) report(`meta keys must be required or optional, not both: ${both.map(quoted).join(', ')}`);
}

function validateGroups(job: Job, context: ValidationContext, report: Report): void {
  if (job.TaskGroups.length === 0) {
    report('the job has no task groups');
    return;
  }
  const names = new Set<string>();
  for (const [index, group] of job.TaskGroups.entries()) {
    const at = within(report, group.Name === '' ? `group ${index + 1}` : `group ${quoted(group.Name)}`);
    if (group.Name !== '' && names.has(group.Name)) at('the name is used twice');
    names.add(group.Name);
    validateGroup(group, job.Type, context, at);
  }
}

/** Checks against the state of the installation. */
function validateSurroundings(job: Job, context: ValidationContext, report: Report): void {
  if (context.hasNamespace?.(job.Namespace) === false) report(`the namespace ${quoted(job.Namespace)} does not exist`);
  const isBuiltInPool = job.NodePool === 'default' || job.NodePool === 'all';
  if (!isBuiltInPool && context.hasNodePool?.(job.NodePool) === false) {
    report(`the node pool ${quoted(job.NodePool)} does not exist`);
  }
  for (const group of job.TaskGroups) {
    for (const network of group.Networks ?? []) {
      const mode = network.Mode ?? 'host';
      if (context.allowsNetworkMode?.(mode) === false)
        report(`group ${quoted(group.Name)}: the namespace does not allow the network mode ${quoted(mode)}`);
    }
    for (const task of group.Tasks) {
      const at = within(report, `group ${quoted(group.Name)}: task ${quoted(task.Name)}`);
      if (task.Driver !== '' && context.allowsDriver?.(task.Driver) === false)
        at(`the namespace does not allow the driver ${quoted(task.Driver)}`);
      if (task.Vault !== null && context.hasVault === false) at('Vault is not enabled here');
    }
  }
}

/** In UTF-8, where a character has at most three bytes per UTF-16 unit. */
function isLongerThan(bytes: number, text: string): boolean {
  return text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
}
