import { deploymentDescriptions } from '../../../src/scheduler/deployment/deployment.js';

/** The recorded scheduler's words and ours that mean the same. */
const sameMeaning: readonly (readonly [recorded: string, ours: string])[] = [
  ['Deployment is running', deploymentDescriptions.running],
  ['Deployment is running but requires manual promotion', deploymentDescriptions.needsPromotion],
  ['Deployment is running pending automatic promotion', deploymentDescriptions.autoPromotion],
  ['Deployment is paused', deploymentDescriptions.paused],
  ['Deployment completed successfully', deploymentDescriptions.successful],
  ['Cancelled because job is stopped', deploymentDescriptions.jobStopped],
  ['Cancelled due to newer version of job', deploymentDescriptions.newerVersion],
  ['Failed due to unhealthy allocations', deploymentDescriptions.unhealthy],
  ['Failed due to progress deadline', deploymentDescriptions.progressDeadline],
  ['Deployment marked as failed', deploymentDescriptions.failedByUser],
];

const recordedByOurs = new Map(sameMeaning.map(([recorded, ours]) => [ours, recorded]));

/** What the recorded scheduler says where we say this; the text itself when it has no counterpart. */
export function recordedWords(ours: string): string {
  const [, trigger] = /^Evaluations of \w+ jobs are not triggered by "(.*)"$/.exec(ours) ?? [];
  if (trigger !== undefined) return `scheduler cannot handle '${trigger}' evaluation reason`;
  return recordedByOurs.get(ours) ?? ours;
}

/** Reasons why nodes were filtered that quote a parser of the recorded scheduler, under our words. */
export function ourReason(recorded: string): string {
  const invalid = /^failed to convert RTarget "(.*)" to uint64: /.exec(recorded);
  return invalid === null ? recorded : `distinct_property: "${invalid[1]}" is not a whole number`;
}
