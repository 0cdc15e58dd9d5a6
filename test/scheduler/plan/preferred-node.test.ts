import { describe, expect, it } from 'vitest';
import type { Step } from '../../replay/stories/story.js';
import { begin, evaluate, fail, lastOf, register, storyGroup, storyJob, storyNode } from '../../support/stories.js';

const nodes = ['n1', 'n2', 'n3'].map((name) => storyNode(name));
const disk = (more: object) => ({ SizeMB: 100, ...more });

function jobWith(EphemeralDisk: object, more: Readonly<Record<string, unknown>> = {}): Step {
  return register(storyJob('job', 'service', [storyGroup({ EphemeralDisk })], more));
}

/** Where the allocation ran, and where it goes after it has failed; a failed one counts against its node. */
function moves(first: Step, ...then: Step[]): { readonly stays: boolean; readonly rescheduled: unknown } {
  const placedBy = (steps: readonly Step[]) =>
    (
      lastOf(nodes, steps, { pools: [{ name: 'p' }] })['placed'] as readonly { node: string; reschedule?: unknown }[]
    )[0];
  const failed = [first, begin('job'), fail('job.api[0]#1'), { do: 'advance', ms: 30_000 } as const];
  const [before, after] = [placedBy([first]), placedBy([...failed, ...then])];
  return { stays: before?.node === after?.node, rescheduled: after?.reschedule };
}

const again = evaluate('job', 'alloc-failure');

describe('a replacement', () => {
  it.each<[string, boolean, object, readonly Step[]]>([
    ['goes to another node', false, {}, [again]],
    ['stays where its sticky disk is', true, { Sticky: true }, [again]],
    ['stays where its disk is that could be moved', true, { Migrate: true }, [again]],
    [
      'stays in another version with the same datacenters',
      true,
      { Sticky: true },
      [jobWith(disk({ Sticky: true }), { Priority: 60 })],
    ],
    [
      'leaves when the datacenters change',
      false,
      { Sticky: true },
      [jobWith(disk({ Sticky: true }), { Datacenters: ['dc1', 'dc2'] })],
    ],
    ['leaves when the pool changes', false, { Sticky: true }, [jobWith(disk({ Sticky: true }), { NodePool: 'all' })]],
  ])('%s', (_what, stays, more, then) => {
    const moved = moves(jobWith(disk(more)), ...then);
    expect(moved.rescheduled).toMatchObject({ events: 1 });
    expect(moved.stays).toBe(stays);
  });

  it.each(['n1', 'n2', 'n3'])('leaves a node that takes nothing any more: %s', (name) => {
    const sticky = jobWith(disk({ Sticky: true }));
    const [placed] = lastOf(nodes, [sticky])['placed'] as readonly { node: string }[];
    const moved = moves(sticky, { do: 'node', name, eligibility: 'ineligible' }, again);
    expect(moved.stays).toBe(placed?.node !== name);
  });
});
