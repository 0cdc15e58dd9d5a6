import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { engineUnderTest } from './engine-under-test.js';
import { sampleJob } from './route-samples.js';

/** Spellings of a key, each with its own value, in any order. */
const spellings = (...keys: readonly string[]) =>
  fc
    .shuffledSubarray([...keys], { minLength: 1 })
    .map((chosen) => chosen.map((key, at) => [key, `value-${at}`] as const));

it('the last spelling of a key counts, wherever the exact one stands', async () => {
  const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
  const put = async (target: string, body: object) => {
    const response = await handler(requestFrom({ method: 'PUT', target, body }));
    expect(response.status, String(response.body)).toBe(200);
  };
  const get = async (target: string): Promise<unknown> =>
    JSON.parse(String((await handler(requestFrom({ target }))).body));
  await fc.assert(
    fc.asyncProperty(
      spellings('Description', 'description', 'DESCRIPTION', 'descriptioN'),
      spellings('Name', 'name', 'NAME', 'nAME'),
      async (descriptions, names) => {
        const last = descriptions.at(-1)?.[1];
        await put('/v1/namespace/spare', { Name: 'spare', ...Object.fromEntries(descriptions) });
        expect(await get('/v1/namespace/spare')).toMatchObject({ Description: last });
        const { Name: _name, ...job } = sampleJob('job');
        await put('/v1/jobs', { Job: { ...job, ...Object.fromEntries(names) } });
        expect(await get('/v1/job/job')).toMatchObject({ Name: names.at(-1)?.[1] });
      },
    ),
    { numRuns: 40 },
  );
});
