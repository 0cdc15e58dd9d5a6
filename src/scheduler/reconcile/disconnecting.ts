import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { DeploymentStanding } from './current-deployment.js';
import { lostAfter } from './disconnect.js';
import { planTimeouts } from './follow-ups.js';
import type { Intents } from './intents.js';
import { filterReschedules, type LaterReschedule } from './reschedule-filter.js';
import type { GroupSets, JobSituation } from './situation.js';

/**
 * Marks allocations on disconnected nodes as unknown, schedules the evaluation that gives them up, and has them
 * replaced by the reschedule policy.
 */
export function settleDisconnecting(
  sets: GroupSets,
  {
    situation,
    standing,
    intents,
    group,
  }: {
    readonly situation: JobSituation;
    readonly standing: DeploymentStanding;
    readonly intents: Intents;
    readonly group: TaskGroup;
  },
): { readonly sets: GroupSets; readonly later: readonly LaterReschedule[] } {
  const { disconnecting } = sets;
  const desired = intents.desired(group.Name);
  desired.Disconnect += disconnecting.length;
  const verdicts = filterReschedules(disconnecting, situation, standing.current, true);
  const timeouts = lostAfter(group) === 0 ? new Map<string, string>() : planTimeouts(disconnecting, situation, intents);
  for (const allocation of disconnecting) {
    intents.unknown.push({ allocation, followupEvalId: timeouts.get(allocation.ID) });
  }
  desired.RescheduleNow += verdicts.now.length;
  return {
    sets: {
      ...sets,
      untainted: [...sets.untainted, ...verdicts.kept],
      replacedNow: [...sets.replacedNow, ...verdicts.now],
    },
    later: verdicts.later,
  };
}
