// A job that is dispatched with input, any number of times, each time once per idempotency token.
import assert from 'node:assert/strict';
import { hostPrincipal, orThrow } from 'signalbox';
import { testEngine } from 'signalbox/testing';

const resized = [];
const functions = {
  resize: ({ payload, meta }) => {
    const { url } = JSON.parse(String(payload));
    resized.push(`${url} to ${meta.width}`);
  },
};
const world = await testEngine({ functions });
const { jobs } = world.engine.as(hostPrincipal);

const task = { Name: 'resize', Driver: 'function', Config: { function: 'resize' } };
const input = { Payload: 'required', MetaRequired: ['width'] };
await orThrow(
  jobs.register({
    ID: 'resize',
    Type: 'batch',
    ParameterizedJob: input,
    TaskGroups: [{ Name: 'main', Tasks: [task] }],
  }),
);

const payload = Buffer.from(JSON.stringify({ url: 'https://example.net/cat.png' })).toString('base64');
const first = await orThrow(jobs.dispatch('resize', { meta: { width: '200' }, payload, idempotencyToken: 'cat' }));
const again = await orThrow(jobs.dispatch('resize', { meta: { width: '200' }, payload, idempotencyToken: 'cat' }));
assert.equal(again.DispatchedJobID, first.DispatchedJobID);
await world.advance(1000);
assert.deepEqual(resized, ['https://example.net/cat.png to 200']);
console.log(resized[0]);
await world.stop();
