import { Readable } from 'node:stream';
import { orThrow } from '../../../../src/client/index.js';
import type { VariableDocument, VariableStub } from '../../../../src/index.js';
import { type Command, command, type Invocation, option } from '../../command-line/command.js';
import { facts, inJson, tableOf, timeText } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import type { DocumentFacts } from '../../variables/items-from.js';
import { existing } from '../find-record.js';
import { numberOption, optional } from '../option-values.js';
import { passOn, print } from '../print.js';

const checkIndex = {
  'check-index': option.text('N', 'only if the variable has this modify index; 0: only if it does not exist'),
} as const;

const list = command({
  usage: 'var list [PREFIX]',
  summary: 'list the variables, or those with this path prefix, without their items',
  options: { filter: option.text('EXPRESSION', 'only matching variables') },
  run: async (invocation, prefix) => {
    const { box, inNamespace, options } = invocation;
    const wanted = { ...optional('prefix', prefix), ...optional('filter', options.filter) };
    const { value } = await orThrow(box.variables.list({ ...inNamespace, ...wanted }));
    return print(invocation, value.items, listText);
  },
});

function listText(variables: readonly VariableStub[]): string {
  const rows = variables.map(({ Namespace, Path, ModifyIndex, ModifyTime, Lock }) => [
    Namespace,
    Path,
    String(ModifyIndex),
    timeText(ModifyTime),
    Lock === undefined ? '' : 'locked',
  ]);
  return tableOf(['Namespace', 'Path', 'Index', 'Changed', 'Lock'], rows, 'no variables');
}

const get = command({
  usage: 'var get PATH',
  summary: 'show a variable with its items, or the value of one item',
  options: { item: option.text('KEY', 'print only the value of this item, without a line feed') },
  run: async (invocation, path = '') => {
    const { box, inNamespace, options, terminal, json } = invocation;
    const variable = await existing(box.variables.read(path, inNamespace), `variable ${path}`);
    if (options.item === undefined) return print(invocation, variable, variableText);
    const value = ownItem(variable, options.item);
    if (value === undefined) throw new Stopped(`variable ${path} has no item ${options.item}`);
    if (!json) return passOn(terminal, Readable.from([Buffer.from(value)]));
    terminal.out(`${inJson(value)}\n`);
    return 0;
  },
});

function ownItem({ Items }: VariableDocument, key: string): string | undefined {
  return Items !== null && Object.hasOwn(Items, key) ? Items[key] : undefined;
}

function variableText(variable: VariableDocument): string {
  const head = headOf(variable);
  if (variable.Items === null) return `${head}you may not read its items\n`;
  return `${head}\n${facts(variable.Items)}`;
}

function headOf({ Namespace, Path, CreateTime, ModifyTime, ModifyIndex, Lock }: VariableStub): string {
  return facts({
    Namespace,
    Path,
    Created: timeText(CreateTime),
    Changed: timeText(ModifyTime),
    Index: ModifyIndex,
    Lock: Lock === undefined ? undefined : `held, TTL ${Lock.TTL}, delay ${Lock.LockDelay}`,
  });
}

const put = command({
  usage: 'var put PATH ITEMS...',
  summary:
    'store a variable with exactly these items: KEY=VALUE, KEY=@FILE, KEY=-, and JSON as @FILE or - (standard input)',
  options: {
    ...checkIndex,
    force: option.flag('ignore the modify index in the JSON document of the variable'),
  },
  run: async (invocation) => {
    const { box, inNamespace, options, parameters, terminal } = invocation;
    const [path = '', ...words] = parameters;
    const asked = numberOption('check-index', options['check-index']);
    if (options.force && asked !== undefined) throw new Stopped('give --check-index or --force, not both', 2);
    const { itemsFrom } = await import('../../variables/items-from.js');
    const { items, document } = await itemsFrom(words, (file) => terminal.read(file));
    assertSameVariable(document, path, inNamespace.namespace);
    const cas = options.force ? undefined : (asked ?? document?.index);
    const namespace = inNamespace.namespace ?? document?.namespace;
    const named = optional('namespace', namespace);
    return written(invocation, box.variables.put(path, { ...named, items, ...optional('cas', cas) }), path, 'stored');
  },
});

/** Refuses a document of another variable, which would silently be stored under this one. */
function assertSameVariable(document: DocumentFacts | undefined, path: string, namespace: string | undefined): void {
  if (document?.path !== undefined && document.path !== path) {
    throw new Stopped(`the file is for variable "${document.path}", but PATH is "${path}": change one of them`, 2);
  }
  if (namespace !== undefined && document?.namespace !== undefined && document.namespace !== namespace) {
    throw new Stopped(
      `the file is for namespace "${document.namespace}", but --namespace is "${namespace}": change one of them`,
      2,
    );
  }
}

const purge = command({
  usage: 'var purge PATH',
  summary: 'delete a variable',
  options: checkIndex,
  run: async (invocation, path = '') => {
    const { box, inNamespace, options } = invocation;
    const cas = optional('cas', numberOption('check-index', options['check-index']));
    return written(invocation, box.variables.remove(path, { ...inNamespace, ...cas }), path, 'removed');
  },
});

type Writing = ReturnType<Invocation['box']['variables']['put']>;

/** Prints the result of a write, without the items. */
async function written(invocation: Invocation, writing: Writing, path: string, done: string): Promise<number> {
  const { conflict, value } = await orThrow(writing);
  if (conflict) throw new Stopped(conflictText(path, value));
  return print(
    invocation,
    value,
    () => `variable ${path} is ${done}${done === 'stored' ? `, index ${value.ModifyIndex}` : ''}\n`,
  );
}

function conflictText(path: string, { ModifyIndex, Lock }: VariableDocument): string {
  if (Lock !== undefined) return `variable ${path} is locked`;
  return ModifyIndex === 0 ? `there is no variable ${path}` : `variable ${path} has the index ${ModifyIndex}`;
}

export const variableCommands: readonly Command[] = [list, get, put, purge];
