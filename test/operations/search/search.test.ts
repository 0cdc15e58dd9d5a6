import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { putNamespace } from '../../../src/operations/namespaces/namespaces.js';
import { putNodePool } from '../../../src/operations/nodes/node-pools.js';
import { fuzzySearch, search } from '../../../src/operations/search/search.js';
import { putVariable } from '../../../src/operations/variables/write-variable.js';
import { group, serviceJob, type World, world } from '../jobs/world.js';

/** Jobs with policies and variables in two namespaces. */
async function filled(): Promise<World> {
  const made = world();
  await putNamespace(made.engine, hostPrincipal, { name: 'other' });
  for (const Namespace of ['default', 'other']) {
    const Scaling = { Min: 0, Max: 2, Enabled: true, Policy: {} };
    const job = serviceJob(`job-${Namespace}`, { Namespace, TaskGroups: [group({ Scaling })] });
    (await registerJob(made.engine, hostPrincipal, { job }))._unsafeUnwrap();
    const variable = { namespace: Namespace, path: `path/${Namespace}`, items: { k: 'v' } };
    (await putVariable(made.engine, hostPrincipal, variable))._unsafeUnwrap();
  }
  return made;
}

const caller = (more: Partial<Principal>): Principal => ({ ...hostPrincipal, management: false, ...more });
const reader = caller({ namespaces: { default: { capabilities: ['read-job'] } } });
const lister = caller({ namespaces: { default: { capabilities: ['list-scaling-policies'] } } });
const variableReader = caller({ namespaces: { default: { capabilities: [], variables: { 'path/*': ['list'] } } } });
const nodeReader = caller({ areas: { node: 'read' } });

describe('a search', () => {
  const found = async ({ engine }: World, who: Principal, context: string, prefix = '') =>
    (await search(engine, who, { namespace: '*', context, prefix })).map(({ Matches }) => Matches).unwrapOr('refused');

  it('finds scaling policies by their IDs, in namespaces whose policies the caller may list', async () => {
    const made = await filled();
    const all = await found(made, hostPrincipal, 'scaling_policy');
    expect(all).toEqual({ scaling_policy: [expect.any(String), expect.any(String)] });
    const [first = ''] = (all as { scaling_policy: string[] }).scaling_policy;
    expect(await found(made, hostPrincipal, 'scaling_policy', first)).toEqual({ scaling_policy: [first] });
    for (const who of [reader, lister]) {
      expect(await found(made, who, 'scaling_policy')).toEqual({ scaling_policy: [expect.any(String)] });
    }
    expect(await found(made, variableReader, 'scaling_policy')).toBe('refused');
  });

  it('finds variables by their paths, those that the caller may list', async () => {
    const made = await filled();
    expect(await found(made, hostPrincipal, 'vars', 'path/')).toEqual({ vars: ['path/default', 'path/other'] });
    expect(await found(made, variableReader, 'vars', 'path/')).toEqual({ vars: ['path/default'] });
    expect(await found(made, reader, 'vars')).toBe('refused');
  });

  it('looks at nodes for those who may read nodes', async () => {
    const made = await filled();
    expect(await found(made, nodeReader, 'nodes')).toEqual({ nodes: null });
    expect(await found(made, reader, 'nodes')).toBe('refused');
    expect(await found(made, nodeReader, 'jobs')).toBe('refused');
  });
});

describe('node pools', () => {
  it('are found with the built-in ones among them', async () => {
    const { engine } = await filled();
    (await putNodePool(engine, hostPrincipal, { name: 'art' }))._unsafeUnwrap();
    const listed = (await search(engine, hostPrincipal, { context: 'node_pools', prefix: 'a' }))._unsafeUnwrap();
    expect(listed.Matches).toEqual({ node_pools: ['all', 'art'] });
    const found = (await fuzzySearch(engine, hostPrincipal, { context: 'node_pools', text: 'fau' }))._unsafeUnwrap();
    expect(found.Matches).toEqual({ node_pools: [{ ID: 'default', Scope: ['default'] }] });
  });
});

describe('a fuzzy search', () => {
  it('over all namespaces may be asked for every context, and shows what the caller sees', async () => {
    const { engine } = await filled();
    const asked = (context: string) => fuzzySearch(engine, variableReader, { namespace: '*', context, text: 'job' });
    for (const context of ['jobs', 'nodes', 'namespaces', 'allocs']) {
      expect((await asked(context))._unsafeUnwrap()).toMatchObject({ Matches: {}, Truncations: { [context]: false } });
    }
    expect((await asked('evals'))._unsafeUnwrap()).toMatchObject({ Matches: {}, Truncations: {} });
    const here = await fuzzySearch(engine, variableReader, { context: 'jobs', text: 'job' });
    expect(here._unsafeUnwrapErr()).toEqual({ type: 'permission_denied' });
  });

  it('finds variables by a part of their paths', async () => {
    const { engine } = await filled();
    const input = { namespace: '*', context: 'vars', text: 'other' };
    const found = (await fuzzySearch(engine, hostPrincipal, input))._unsafeUnwrap();
    expect(found.Matches).toEqual({ vars: [{ ID: 'path/other', Scope: ['other', 'path/other'] }] });
  });

  it('finds nothing, and tells no index, for a caller without rights', async () => {
    const { engine } = await filled();
    const found = await fuzzySearch(engine, caller({}), { context: 'all', text: 'job' });
    expect(found._unsafeUnwrap()).toEqual({ Matches: {}, Truncations: {}, index: 0 });
  });
});
