import { describe, expect, it } from 'vitest';
import { type Cause, noticesOfChanges, type StateChange, type Topic } from '../../src/events/changes.js';

/** The index of the transaction. */
const index = 20;

/** What two sides of a change have, as far as notices look at it. */
type Sides = readonly [before: object | undefined, after: object | undefined];

const bases: Readonly<Partial<Record<Topic, object>>> = {
  Job: { ID: 'web', Namespace: 'default', Status: 'running', Stop: false, CreateIndex: 5, JobModifyIndex: 5 },
  Evaluation: { ID: 'e', Namespace: 'default', JobID: 'web', Status: 'pending', CreateIndex: 10 },
  Allocation: {
    ...{ ID: 'a', Namespace: 'default', JobID: 'web', DesiredStatus: 'run', ClientStatus: 'running' },
    ...{ DesiredTransition: { Migrate: null }, CreateIndex: 10, AllocModifyIndex: 10 },
  },
  Deployment: {
    ID: 'd',
    Namespace: 'default',
    JobID: 'web',
    Status: 'running',
    TaskGroups: { g: { Promoted: false } },
  },
  Node: { ID: 'n', Status: 'ready', SchedulingEligibility: 'eligible', DrainStrategy: null },
};

function change(topic: Topic, [before, after]: Sides): StateChange {
  const side = (more: object | undefined) => (more === undefined ? undefined : { ...bases[topic], ...more });
  return { topic, before: side(before), after: side(after) } as unknown as StateChange;
}

function told(changes: readonly StateChange[], known?: Cause): readonly string[] {
  return noticesOfChanges(changes, index, known).map(({ Topic, Type }) => `${Topic} ${Type}`);
}

const newEvaluation = change('Evaluation', [undefined, { CreateIndex: index }]);
const decided = change('Evaluation', [{}, { Status: 'complete' }]);
const placed = change('Allocation', [undefined, { CreateIndex: index, AllocModifyIndex: index }]);
const reported = change('Allocation', [{ ClientStatus: 'pending' }, {}]);
const toMigrate = change('Allocation', [{}, { DesiredTransition: { Migrate: true }, AllocModifyIndex: index }]);
const healthy = change('Allocation', [{}, { DeploymentStatus: { Healthy: true, Canary: false } }]);
const pending = change('Job', [{ Status: 'pending' }, {}]);
const died = change('Job', [{}, { Status: 'dead' }]);
const reverted = change('Job', [{}, { JobModifyIndex: index }]);
const purged = change('Job', [{}, undefined]);
const counted = change('Deployment', [{}, {}]);
const failed = change('Deployment', [{}, { Status: 'failed' }]);
const promoted = change('Deployment', [{}, { TaskGroups: { g: { Promoted: true } } }]);
const noCanaryAnyMore = change('Allocation', [
  { DeploymentStatus: { Healthy: true, Canary: true } },
  { DeploymentStatus: { Healthy: true, Canary: false } },
]);

describe('the notices of a transaction', () => {
  it.each<[what: string, changes: readonly StateChange[], types: readonly string[], known?: Cause]>([
    [
      'a plan, and the evaluation that asked for it',
      [change('Deployment', [undefined, {}]), placed, decided, pending],
      ['Deployment PlanResult', 'Allocation PlanResult', 'Evaluation EvaluationUpdated', 'Job PlanResult'],
    ],
    [
      'a plan that ends a job, and what it leaves to be done',
      [change('Allocation', [{}, { DesiredStatus: 'stop' }]), decided, newEvaluation, died],
      [
        'Allocation PlanResult',
        'Evaluation EvaluationUpdated',
        'Evaluation EvaluationUpdated',
        'Job EvaluationUpdated',
      ],
    ],
    [
      'a plan that changes allocations in place and ends a deployment',
      [
        change('Allocation', [{}, { AllocModifyIndex: index }]),
        change('Deployment', [{}, { Status: 'successful' }]),
        decided,
      ],
      ['Allocation PlanResult', 'Deployment PlanResult', 'Evaluation EvaluationUpdated'],
    ],
    [
      'a node that is out of reach',
      [change('Allocation', [{}, { ClientStatus: 'unknown' }]), decided],
      ['Allocation PlanResult', 'Evaluation EvaluationUpdated'],
    ],
    [
      'the report of a node, and the evaluation after it',
      [
        change('Allocation', [{}, { ClientStatus: 'failed' }]),
        newEvaluation,
        change('Job', [{}, { Status: 'pending' }]),
      ],
      ['Allocation AllocationUpdated', 'Evaluation AllocationUpdated', 'Job AllocationUpdated'],
    ],
    [
      'health that a node reports',
      [healthy, counted, newEvaluation],
      ['Allocation AllocationUpdated', 'Deployment AllocationUpdated', 'Evaluation AllocationUpdated'],
    ],
    [
      'a report that fails a deployment and takes the job back',
      [reported, reverted, failed],
      ['Allocation AllocationUpdated', 'Deployment DeploymentStatusUpdate', 'Job DeploymentStatusUpdate'],
    ],
    [
      'health that a person tells',
      [counted, healthy, newEvaluation],
      ['Deployment DeploymentAllocHealth', 'Allocation DeploymentAllocHealth', 'Evaluation DeploymentAllocHealth'],
      'DeploymentAllocHealth',
    ],
    [
      'an allocation that is stopped by request',
      [newEvaluation, toMigrate],
      ['Evaluation AllocationUpdateDesiredStatus', 'Allocation AllocationUpdateDesiredStatus'],
    ],
    [
      'a promotion',
      [promoted, noCanaryAnyMore, newEvaluation],
      ['Deployment DeploymentPromotion', 'Allocation DeploymentPromotion', 'Evaluation DeploymentPromotion'],
    ],
    [
      'a deployment that is failed by request, with the job going back',
      [reverted, failed, newEvaluation],
      ['Deployment DeploymentStatusUpdate', 'Evaluation DeploymentStatusUpdate', 'Job DeploymentStatusUpdate'],
    ],
    ['an evaluation by request', [newEvaluation], ['Evaluation EvaluationUpdated']],
    [
      'a purge',
      [
        change('Evaluation', [{}, { Status: 'complete' }]),
        change('Allocation', [{}, undefined]),
        change('Deployment', [{}, undefined]),
        purged,
        newEvaluation,
      ],
      ['Job JobDeregistered', 'Evaluation JobDeregistered', 'Evaluation JobDeregistered'],
    ],
    [
      'a collected job',
      [change('Evaluation', [{}, undefined]), change('Deployment', [{}, undefined]), purged],
      ['Job JobBatchDeregistered'],
      'JobBatchDeregistered',
    ],
    ['collected evaluations', [change('Evaluation', [{}, undefined]), change('Allocation', [{}, undefined])], []],
    ['a tag', [change('Job', [{}, { VersionTag: { Name: 'good' } }])], []],
    [
      'nodes',
      [
        change('Node', [{}, { DrainStrategy: { Deadline: 0 }, SchedulingEligibility: 'ineligible' }]),
        change('Node', [{ DrainStrategy: { Deadline: 0 } }, { DrainStrategy: null }]),
        change('Node', [{}, { SchedulingEligibility: 'ineligible' }]),
        change('Node', [{}, { Status: 'down' }]),
        change('Node', [{}, { NodeClass: 'big' }]),
      ],
      ['Node NodeDrain', 'Node NodeDrain', 'Node NodeEligibility', 'Node NodeStreamEvent', 'Node NodeRegistration'],
    ],
  ])('name the cause: %s', (_what, changes, types, known) => {
    expect(told(changes, known)).toEqual(types);
  });
});
