import { expect, it } from 'vitest';
import { begin, lastOf, register, storyGroup, storyJob, storyNode, storyTask } from '../../support/stories.js';

/** What becomes of a running allocation whose task has one configuration, and then the other. */
function afterChange(before: unknown, after: unknown): string {
  const withConfig = (Config: unknown) =>
    register(storyJob('job', 'service', [storyGroup({ Tasks: [storyTask(100, { Config })] })]));
  const told = lastOf([storyNode('n1')], [withConfig(before), begin('job'), withConfig(after)]);
  const list = ['placed', 'updatedInPlace'].find((name) => (told[name] as readonly unknown[]).length > 0);
  return list ?? 'nothing';
}

it.each([
  ['an option without content comes', { command: 'a' }, { command: 'a', args: [] }],
  ['an option without content goes', { command: 'a', mounts: {} }, { command: 'a' }],
  ['an option within an option goes', { auth: { name: 'a', groups: [] } }, { auth: { name: 'a' } }],
  ['the order of a list changes', { args: ['a', 'b'] }, { args: ['b', 'a'] }],
])('replaces an allocation when %s in the configuration of its driver', (_, before, after) => {
  expect(afterChange(before, after)).toBe('placed');
});

it.each([
  ['options in another order', { command: 'a', args: ['b'] }, { args: ['b'], command: 'a' }],
  ['no options, written as an empty map', null, {}],
])('changes nothing for %s', (_, before, after) => {
  expect(afterChange(before, after)).toBe('nothing');
});
