import { orThrow } from '../../../../src/client/index.js';
import type { NodeMetadata } from '../../../../src/scheduler/index.js';
import { type Command, command } from '../../command-line/command.js';
import { tableOf } from '../../output/columns.js';
import { Stopped } from '../../stopped.js';
import { print } from '../print.js';
import { nodeOf } from './node-commands.js';

const read = command({
  words: 'node meta read',
  parameters: 'NODE',
  summary: 'show the metadata of a node with its sources',
  options: {},
  run: async (invocation) => {
    const { box, parameters } = invocation;
    const { ID } = await nodeOf(invocation, parameters[0] ?? '');
    return print(invocation, await orThrow(box.nodes.readMeta({ nodeId: ID })), metaText);
  },
});

const apply = command({
  words: 'node meta apply',
  parameters: 'NODE [KEY=VALUE...]',
  summary: 'set metadata of a node; constraints of jobs refer to it as ${meta.KEY}',
  options: { unset: { type: 'list', value: 'KEY', summary: 'remove this key, may be repeated' } },
  run: async (invocation) => {
    const { box, options, parameters } = invocation;
    const [prefix = '', ...words] = parameters;
    if (words.length + options.unset.length === 0) throw new Stopped('give KEY=VALUE or --unset', 2);
    const removed = Object.fromEntries(options.unset.map((key) => [key, null]));
    const changes = { ...removed, ...namedValues(words) };
    const { ID } = await nodeOf(invocation, prefix);
    return print(invocation, await orThrow(box.nodes.applyMeta({ nodeId: ID, changes })), metaText);
  },
});

function namedValues(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    words.map((word) => {
      const equals = word.indexOf('=');
      if (equals < 1) throw new Stopped(`expected KEY=VALUE, not ${JSON.stringify(word.slice(0, 40))}`, 2);
      return [word.slice(0, equals), word.slice(equals + 1)];
    }),
  );
}

function metaText({ Meta, Dynamic, Static }: NodeMetadata): string {
  const names = [...new Set([...Object.keys(Static), ...Object.keys(Dynamic)])].sort();
  const rows = names.map((name) => {
    if (!Object.hasOwn(Dynamic, name)) return [name, Meta[name] ?? '', 'agent'];
    return Dynamic[name] === null ? [name, '', 'agent, hidden'] : [name, Meta[name] ?? '', 'applied'];
  });
  return tableOf(['Name', 'Value', 'From'], rows, 'the node has no metadata');
}

export const nodeMetaCommands: readonly Command[] = [read, apply];
