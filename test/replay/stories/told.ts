import type { Allocation } from '../../../src/scheduler/allocation.js';
import type { AllocationMetric } from '../../../src/scheduler/allocation-metric.js';
import type { DesiredUpdates, Evaluation } from '../../../src/scheduler/evaluation.js';
import { descriptions } from '../../../src/scheduler/reconcile/intents.js';
import { classNames, type StoryNames } from './names.js';
import { recordedWords } from './words.js';
import { type Decision, healthOf, type World } from './world.js';

type Told = Record<string, unknown>;

/** What a decision comes to, in the form in which stories write it. Members that hold nothing are absent. */
export function toldDecision(decision: Decision, world: World, names: StoryNames): Told {
  const { result, job, evaluation } = decision;
  const lists = toldAllocations(decision, names);
  const { deployment, deploymentUpdates } = result.decided;
  const isNew = deployment !== undefined && deployment.CreateIndex === 0;
  const reblocked = evaluation.Status === 'blocked' && result.evaluation.Status === 'blocked';
  const told: Told = {
    ...lists,
    ...(deployment === undefined
      ? {}
      : { [isNew ? 'deploymentCreated' : 'deploymentWritten']: names.nameOf(deployment.ID) }),
    deploymentUpdates: deploymentUpdates.map(({ deploymentId, status, description }) => ({
      deployment: names.nameOf(deploymentId),
      description: recordedWords(description),
      status,
    })),
    evals: result.followUps.map((followUp) => toldEvaluation(followUp, world, names)).sort(byName),
    eval: reblocked ? {} : toldEnd(result.evaluation, names),
    ...(reblocked ? { reblocked: toldClasses(result.evaluation, world) } : {}),
    failed: reblocked ? {} : toldFailures(result.evaluation),
    ...(reblocked || result.evaluation.Status === 'failed' ? {} : { desired: toldDesired(result.desiredUpdates) }),
  };
  const planned =
    Object.values(lists).some((list) => list.length > 0) || deployment !== undefined || deploymentUpdates.length > 0;
  if (!planned) told['noPlan'] = true;
  else if (job?.AllAtOnce === true) told['allAtOnce'] = true;
  return told;
}

/** The state after a decision was applied. */
export function toldState(world: World, names: StoryNames, jobId: string): Told {
  const job = world.jobs.get(jobId);
  const allocations = [...world.allocations.values()].filter(({ JobID }) => JobID === jobId);
  const deployment = world.latestDeploymentOf(jobId);
  return {
    allocs: Object.fromEntries(allocations.map((allocation) => [names.nameOf(allocation.ID), stateText(allocation)])),
    ...(deployment === undefined
      ? {}
      : {
          deployment: {
            name: names.nameOf(deployment.ID),
            status: deployment.Status,
            description: recordedWords(deployment.StatusDescription),
            jobVersion: deployment.JobVersion,
            groups: Object.fromEntries(
              Object.entries(deployment.TaskGroups).map(([group, state]) => [
                group,
                {
                  desiredTotal: state.DesiredTotal,
                  healthy: state.HealthyAllocs,
                  placed: state.PlacedAllocs,
                  unhealthy: state.UnhealthyAllocs,
                  ...(state.ProgressDeadline === 0 ? {} : { progressDeadlineMs: state.ProgressDeadline / 1_000_000 }),
                  ...(state.RequireProgressBy === null
                    ? {}
                    : { requireProgressInMs: Date.parse(state.RequireProgressBy) - world.now }),
                  ...(state.DesiredCanaries === 0
                    ? {}
                    : {
                        desiredCanaries: state.DesiredCanaries,
                        placedCanaries: state.PlacedCanaries?.length ?? 0,
                        promoted: state.Promoted,
                      }),
                },
              ]),
            ),
          },
        }),
    ...(job === undefined ? {} : { jobStatus: job.Status, jobVersion: job.Version }),
    summary: Object.fromEntries(
      Object.entries(world.summaries.get(jobId)?.Summary ?? {}).map(([group, counts]) => [
        group,
        Object.fromEntries(
          Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [[name.toLowerCase(), count]])),
        ),
      ]),
    ),
  };
}

export function stateText(allocation: Allocation): string {
  const { DesiredStatus, ClientStatus, JobVersion, DeploymentStatus } = allocation;
  const canary = DeploymentStatus?.Canary === true ? ' canary' : '';
  const health = healthOf(allocation);
  return `${DesiredStatus}/${ClientStatus} v${JobVersion}${canary}${health === undefined ? '' : ` ${health}`}`;
}

function toldAllocations({ before, result }: Decision, names: StoryNames): Record<string, Told[]> {
  const lists: Record<string, Told[]> = {};
  for (const after of result.allocations) {
    const was = before.get(after.ID);
    const changes =
      was === undefined ? [['placed', toldPlacement(after, names)] as const] : toldChanges(was, after, names);
    for (const [list, told] of changes) {
      lists[list] ??= [];
      lists[list].push({ alloc: names.nameOf(after.ID), ...told });
    }
  }
  for (const list of Object.values(lists))
    list.sort((left, right) => (String(left['alloc']) < String(right['alloc']) ? -1 : 1));
  return lists;
}

function toldPlacement(placed: Allocation, names: StoryNames): Told {
  const events = placed.RescheduleTracker?.Events ?? null;
  const { Ports } = placed.AllocatedResources.Shared;
  const tasks = toldTasks(placed);
  return {
    node: placed.NodeName,
    version: placed.JobVersion,
    ...(placed.DeploymentID === undefined ? {} : { deployment: names.nameOf(placed.DeploymentID) }),
    ...(placed.DeploymentStatus?.Canary === true ? { canary: true } : {}),
    ...(placed.PreviousAllocation === undefined ? {} : { previous: names.nameOf(placed.PreviousAllocation) }),
    ...(events === null
      ? {}
      : { reschedule: { events: events.length, lastDelayMs: (events.at(-1)?.Delay ?? 0) / 1_000_000 } }),
    ...(Ports === null
      ? {}
      : {
          ports: Ports.map(({ Label, Value, To, HostIP }) => ({
            label: Label,
            value: Value,
            ...(To === undefined ? {} : { to: To }),
            ...(HostIP === undefined ? {} : { hostIP: HostIP }),
          })).sort((left, right) => (left.label < right.label ? -1 : 1)),
        }),
    ...(tasks === undefined ? {} : { tasks }),
    ...(placed.PreemptedAllocations === undefined
      ? {}
      : { preempts: placed.PreemptedAllocations.map((id) => names.nameOf(id)).sort() }),
  };
}

function toldTasks({ AllocatedResources: { Tasks } }: Allocation): Told | undefined {
  const told = Object.entries(Tasks).flatMap(([name, { Cpu, Memory, Devices }]) => {
    const parts = {
      ...(Memory.MemoryMaxMB === 0 ? {} : { memoryMB: Memory.MemoryMB, memoryMaxMB: Memory.MemoryMaxMB }),
      ...(Cpu.ReservedCores === null ? {} : { cores: Cpu.ReservedCores.length }),
      ...(Devices === null
        ? {}
        : {
            devices: Devices.map(({ Vendor, Type, Name, DeviceIDs }) => ({
              id: `${Vendor}/${Type}/${Name}`,
              count: DeviceIDs.length,
            })),
          }),
    };
    return Object.keys(parts).length === 0 ? [] : [[name, parts] as const];
  });
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

type ToldChange = readonly [list: string, told: Told];

/** In which lists a changed allocation is told, and how; none when only its link to its successor has changed. */
function toldChanges(was: Allocation, after: Allocation, names: StoryNames): readonly ToldChange[] {
  if (after.ClientStatus === 'unknown' && was.ClientStatus !== 'unknown') return toldUnknown(was, after, names);
  const change = toldChange(was, after, names);
  if (change === undefined) return [];
  const waits = after.FollowupEvalID !== was.FollowupEvalID && after.ClientStatus === was.ClientStatus;
  if (change[0] !== 'stopped' || !waits) return [change];
  return [
    change,
    ['followupAnnotated', { followup: names.nameOf(after.FollowupEvalID ?? ''), jobVersionAfter: after.JobVersion }],
  ];
}

/** The recorded plan holds a mark beside what else is done with the allocation: it is stopped, or brought to another version. */
function toldUnknown(was: Allocation, after: Allocation, names: StoryNames): readonly ToldChange[] {
  const { FollowupEvalID, ClientStatus, ClientDescription, AllocStates, JobVersion } = after;
  const followup = FollowupEvalID === undefined ? {} : { followup: names.nameOf(FollowupEvalID) };
  const description = recordedWords(ClientDescription ?? '');
  const marked: Allocation = { ...was, ClientStatus, ...(FollowupEvalID === undefined ? {} : { FollowupEvalID }) };
  const states = AllocStates === undefined ? {} : { AllocStates };
  const change = toldChange({ ...marked, ...states }, after, names);
  return [
    ['unknown', { description, ...followup, jobVersionAfter: JobVersion }],
    ...(change === undefined ? [] : [change]),
  ];
}

function toldChange(was: Allocation, after: Allocation, names: StoryNames): ToldChange | undefined {
  const version = { jobVersionAfter: after.JobVersion };
  const { LastReschedule } = after.RescheduleTracker ?? {};
  if (after.DesiredStatus === 'evict') return ['preempted', { by: names.nameOf(after.PreemptedByAllocation ?? '') }];
  const stopped = was.DesiredStatus === 'run' || was.ClientStatus !== after.ClientStatus;
  if (after.DesiredStatus === 'stop' && (stopped || was.DesiredDescription !== after.DesiredDescription)) {
    return ['stopped', toldStop(was, after, names)];
  }
  if ((after.AllocStates?.length ?? 0) > (was.AllocStates?.length ?? 0)) return ['reconnected', version];
  if (was.JobVersion !== after.JobVersion || was.EvalID !== after.EvalID) {
    const deployment = after.DeploymentID === undefined ? {} : { deployment: names.nameOf(after.DeploymentID) };
    return ['updatedInPlace', { ...deployment, ...version }];
  }
  if (LastReschedule === 'no placement' && after.NextAllocation === was.NextAllocation) {
    return ['rescheduleAnnotated', { lastReschedule: LastReschedule, ...version }];
  }
  if (after.FollowupEvalID !== was.FollowupEvalID) {
    return ['followupAnnotated', { followup: names.nameOf(after.FollowupEvalID ?? ''), ...version }];
  }
  return undefined;
}

/** The recorded plan holds no description of what it has rescheduled, because a later copy takes its place. */
function toldStop(was: Allocation, after: Allocation, names: StoryNames): Told {
  const linked = after.NextAllocation !== was.NextAllocation;
  const rescheduled = linked && after.DesiredDescription === descriptions.rescheduled;
  const { LastReschedule } = after.RescheduleTracker ?? {};
  return {
    description: rescheduled ? '' : recordedWords(after.DesiredDescription ?? ''),
    ...(after.ClientStatus === was.ClientStatus ? {} : { client: after.ClientStatus }),
    ...(after.ClientStatus === was.ClientStatus || after.FollowupEvalID === was.FollowupEvalID
      ? {}
      : { followup: names.nameOf(after.FollowupEvalID ?? '') }),
    ...(LastReschedule === was.RescheduleTracker?.LastReschedule ? {} : { lastReschedule: LastReschedule }),
  };
}

function toldEvaluation(evaluation: Evaluation, world: World, names: StoryNames): Told {
  const blocked = evaluation.Status === 'blocked';
  return {
    name: names.nameOf(evaluation.ID),
    status: evaluation.Status,
    trigger: evaluation.TriggeredBy,
    type: evaluation.Type,
    priority: evaluation.Priority,
    ...(evaluation.StatusDescription === undefined ? {} : { description: recordedWords(evaluation.StatusDescription) }),
    ...(evaluation.WaitUntil === undefined ? {} : { waitMs: Date.parse(evaluation.WaitUntil) - world.now }),
    ...(evaluation.NodeID === undefined ? {} : { node: world.nodes.get(evaluation.NodeID)?.Name }),
    ...(blocked ? toldClasses(evaluation, world) : {}),
    ...(blocked ? { failedGroups: Object.keys(evaluation.FailedTGAllocs ?? {}).sort() } : {}),
  };
}

function toldClasses(evaluation: Evaluation, world: World): Told {
  const escaped = evaluation.EscapedComputedClass === true;
  if (escaped) return { escaped };
  const named = classNames(world.nodes.values());
  const classes = Object.entries(evaluation.ClassEligibility ?? {}).map(([name, eligible]) => [
    named.get(name) ?? name,
    eligible,
  ]);
  return { escaped, classEligibility: Object.fromEntries(classes) };
}

function toldEnd(evaluation: Evaluation, names: StoryNames): Told {
  const { Status, StatusDescription, QueuedAllocations, BlockedEval, DeploymentID } = evaluation;
  if (Status === 'failed') return { status: Status, description: recordedWords(StatusDescription ?? '') };
  return {
    status: Status,
    ...(QueuedAllocations === undefined ? {} : { queued: QueuedAllocations }),
    ...(BlockedEval === undefined ? {} : { blockedEval: names.nameOf(BlockedEval) }),
    ...(DeploymentID === undefined ? {} : { deployment: names.nameOf(DeploymentID) }),
  };
}

function toldFailures({ FailedTGAllocs }: Evaluation): Told {
  return Object.fromEntries(Object.entries(FailedTGAllocs ?? {}).map(([group, metric]) => [group, toldMetric(metric)]));
}

function toldMetric(metric: AllocationMetric): Told {
  const resources = Object.entries(metric.ResourcesExhausted ?? {}).map(([task, { CPU, MemoryMB }]) => [
    task,
    { ...withContents('cpu', CPU), ...withContents('memoryMB', MemoryMB) },
  ]);
  return {
    nodesEvaluated: metric.NodesEvaluated,
    nodesFiltered: metric.NodesFiltered,
    nodesExhausted: metric.NodesExhausted,
    ...withContents('nodesInPool', metric.NodesInPool),
    ...withContents('nodesAvailable', metric.NodesAvailable),
    ...withContents('classFiltered', metric.ClassFiltered),
    ...withContents('constraintFiltered', metric.ConstraintFiltered),
    ...withContents('classExhausted', metric.ClassExhausted),
    ...withContents('dimensionExhausted', metric.DimensionExhausted),
    ...(metric.ResourcesExhausted === null ? {} : { resourcesExhausted: Object.fromEntries(resources) }),
    ...withContents('coalescedFailures', metric.CoalescedFailures),
  };
}

function withContents(name: string, value: number | Readonly<Record<string, number>> | null): Told {
  const empty = value === null || value === 0 || (typeof value === 'object' && Object.keys(value).length === 0);
  return empty ? {} : { [name]: value };
}

function toldDesired(desired: Readonly<Record<string, DesiredUpdates>>): Told {
  return Object.fromEntries(
    Object.entries(desired).map(([group, updates]) => [
      group,
      Object.fromEntries(
        Object.entries(updates).flatMap(([name, count]) =>
          count === 0 ? [] : [[`${name[0]?.toLowerCase()}${name.slice(1)}`, count]],
        ),
      ),
    ]),
  );
}

function byName(left: Told, right: Told): number {
  return String(left['name']) < String(right['name']) ? -1 : 1;
}
