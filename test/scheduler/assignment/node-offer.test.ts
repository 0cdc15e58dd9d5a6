import { describe, expect, it } from 'vitest';
import { lastOf, register, storyGroup, storyJob, storyNode, storyTask } from '../../support/stories.js';

const port = (Label: string, Value: number) => ({ Networks: [{ ReservedPorts: [{ Label, Value }] }] });

/** What a group lacks that asks for a port itself and for one of its task. */
function lackOf(groupPort: number, taskPort: number, held: number | undefined) {
  const task = { ...storyTask(), Resources: { CPU: 100, MemoryMB: 64, ...port('task', taskPort) } };
  const wanted = storyGroup({ ...port('group', groupPort), Tasks: [task] });
  const holder = held === undefined ? [] : [register(storyJob('holder', 'service', [storyGroup(port('held', held))]))];
  const steps = [...holder, register(storyJob('job', 'service', [wanted]))];
  return lastOf([storyNode('n1')], steps);
}

describe('the ports of a group and of its tasks', () => {
  it.each([
    ['the group, when another allocation holds the ports of both', 7000, 7000, 7000, 'group=7000'],
    ['the task, when the group has taken its port', 7000, 7000, undefined, 'task=7000'],
    ['the task, when another allocation holds its port', 7001, 7000, 7000, 'task=7000'],
  ])(
    'are given to the group first, so that it is told what is lacking for %s',
    (_, groupPort, taskPort, held, named) => {
      expect(lackOf(groupPort, taskPort, held)).toMatchObject({
        failed: { api: { dimensionExhausted: { [`network: reserved port collision ${named}`]: 1 } } },
      });
    },
  );

  it('leave a static port of a task when dynamic ones are given to the group', () => {
    const Networks = [{ DynamicPorts: Array.from({ length: 100 }, (_, at) => ({ Label: `p${at}` })) }];
    const task = { ...storyTask(), Resources: { CPU: 100, MemoryMB: 64, ...port('task', 20_050) } };
    const steps = [register(storyJob('job', 'service', [storyGroup({ Networks, Tasks: [task] })]))];
    const node = storyNode('n1', { reserved: { hostPorts: '20101-32000' } });
    // 101 ports are left, and all of them are needed.
    expect(lastOf([node], steps)).toMatchObject({ placed: [{ node: 'n1' }] });
  });

  it('are all given when they are free', () => {
    expect(lackOf(7001, 7000, undefined)).toMatchObject({ placed: [{ node: 'n1' }] });
  });
});
