// A job is changed: first the plan with its diff, then the new version, then back to the old one.
import assert from 'node:assert/strict';
import { hostPrincipal, orThrow } from 'signalbox';
import { testEngine } from 'signalbox/testing';

const world = await testEngine({ functions: { work: () => 'done' } });
const { jobs } = world.engine.as(hostPrincipal);
const worker = (Count) => ({
  ID: 'worker',
  TaskGroups: [{ Name: 'main', Count, Tasks: [{ Name: 'work', Driver: 'function', Config: { function: 'work' } }] }],
});

await orThrow(jobs.register(worker(1)));
const plan = await orThrow(jobs.plan('worker', worker(3), { diff: true }));
const changed = plan.diff.TaskGroups[0].Fields.find(({ Name }) => Name === 'Count');
console.log(`count ${changed.Old} => ${changed.New}`);

await orThrow(jobs.register(worker(3), { enforceIndex: plan.jobModifyIndex })); // fails if somebody changed the job meanwhile
await orThrow(jobs.revert('worker', 0));
const { value } = await orThrow(jobs.read('worker'));
assert.deepEqual([value.Version, value.TaskGroups[0].Count], [2, 1]);
console.log(`version ${value.Version} is version 0 again`);
await world.stop();
