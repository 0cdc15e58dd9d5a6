import { quoted } from '../../shared/values.js';
import { type Job, jobBlock, parameterizedBlock } from '../document/job.js';
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
import { type InstallationContext, validateInstallation, validateSupported } from './validate-installation.js';
import { validateJobId, validateName } from './validate-names.js';
import { validateAffinities, validateConstraints, validateSpreads } from './validate-placement.js';
import { validateMesh } from './validate-services.js';
import { validateJobStart } from './validate-start.js';
import { validateWork } from './validate-work.js';

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
  validateJobStart(job, report);
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
