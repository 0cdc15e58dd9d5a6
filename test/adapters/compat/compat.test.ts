import { describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandlerOptions, requestFrom } from '../../../adapters/compat/index.js';
import { engineUnderTest } from '../http-server/engine-under-test.js';

type Served = Pick<HttpHandlerOptions, 'compat' | 'names'>;

/** Status, names of headers and body of the answers to four questions that tell whose clients a handler expects. */
async function formOf(served: Served, setting: 'neutral' | 'upstream' = 'neutral') {
  const engine = engineUnderTest({ notifications: { names: setting } });
  const handler = createHttpHandler(engine, { access: 'open', ...served });
  const ask = async (target: string) => {
    const { status, headers, body } = await handler(requestFrom({ target }));
    return { status, headers: headers.filter((_, at) => at % 2 === 0), body: String(body) };
  };
  const [jobs, missing, discovery, ping] = await Promise.all(
    ['/v1/jobs', '/v1/job/none', '/.well-known/terraform.json', '/ping'].map(ask),
  );
  return {
    nomad: jobs?.headers.includes('X-Nomad-Index') === true && missing?.body === 'job not found',
    neutral: jobs?.headers.includes('X-SVC-Index') === true && missing?.body === 'job not found: GET /v1/job/none',
    terraform: discovery?.status === 200 && ping?.headers.includes('TFP-AppName') === true,
    plain: discovery?.status === 404 && ping?.headers.includes('TFP-AppName') === false,
  };
}

const ofNomad = { nomad: true, neutral: false };
const ofNobody = { nomad: false, neutral: true };
const forTerraform = { terraform: true, plain: false };
const notForTerraform = { terraform: false, plain: true };

describe('whose clients a handler serves', () => {
  it.each<[string, Served, object]>([
    ['nobody else without the option', {}, { ...ofNobody, ...notForTerraform }],
    ['those of Nomad', { compat: ['nomad'] }, { ...ofNomad, ...notForTerraform }],
    ['those of HCP Terraform', { compat: ['terraform'] }, { ...ofNobody, ...forTerraform }],
    ['those of both', { compat: ['terraform', 'nomad'] }, { ...ofNomad, ...forTerraform }],
    ['both with the upstream names', { names: 'upstream' }, { ...ofNomad, ...forTerraform }],
    ['nobody else with the neutral names', { names: 'neutral' }, { ...ofNobody, ...notForTerraform }],
  ])('%s', async (_title, served, form) => {
    expect(await formOf(served)).toEqual(form);
  });

  it('is what the setting of the engine says, unless the handler is given something else', async () => {
    expect(await formOf({}, 'upstream')).toEqual({ ...ofNomad, ...forTerraform });
    expect(await formOf({ compat: [] }, 'upstream')).toEqual({ ...ofNobody, ...notForTerraform });
    expect(await formOf({ compat: ['nomad'] }, 'upstream')).toEqual({ ...ofNomad, ...notForTerraform });
  });

  it('is said once, with words that exist', () => {
    const engine = engineUnderTest();
    const made = (served: object) => () => createHttpHandler(engine, { access: 'open', ...served });
    expect(made({ compat: ['nomad'], names: 'neutral' })).toThrow('the option names has no effect beside compat');
    expect(made({ compat: ['consul'] })).toThrow(/compat.*'nomad' or 'terraform'/);
    expect(made({ compat: 'nomad' })).toThrow(/compat/);
  });
});

it('redirects to what a header can contain', async () => {
  const handler = createHttpHandler(engineUnderTest(), { access: 'open', compat: ['nomad'] });
  const { status, headers } = await handler(requestFrom({ target: '/v1//jobs\r\nX: \u00e9\ud800\u{1f600}' }));
  expect([status, headers[1]]).toEqual([307, '/v1/jobs%0D%0AX:%20%E9%EF%BF%BD%F0%9F%98%80']);
});
