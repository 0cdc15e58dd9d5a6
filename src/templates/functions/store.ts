import { own, trimWhiteSpace } from '../../shared/values.js';
import { type Value, VariableItems } from '../values.js';
import {
  type Call,
  exactly,
  ofTexts,
  quotedStart,
  type TemplateFunction,
  textsFrom,
  type VariableRead,
} from './template-function.js';

/** The inputs of a task: its environment, its node, its meta, and the variables of the store. */
export const storeFunctions: Readonly<Record<string, TemplateFunction>> = {
  env: ofEnvironment(1, (value) => value ?? ''),
  envOrDefault: ofEnvironment(2, (value, [, otherwise = '']) => value ?? otherwise),
  mustEnv: ofEnvironment(1, (value, [name = ''], call) => {
    const what = call.isWritten(name) ? quotedStart(name) : 'such name';
    return value || call.fail(`the environment has no ${what}, or an empty one`);
  }),
  meta: ofTexts(1, ([name = ''], { inputs }) => own(inputs.meta, name) ?? ''),
  nomadVar: exactly(1, (args, call) => {
    const read = variableFrom(args, call);
    return read && items(read, call);
  }),
  nomadVarExists: exactly(1, (args, call) => {
    const read = variableFrom(args, call);
    if (read === undefined) return undefined;
    const exists = call.inputs.variable(read.path, read.namespace) !== undefined;
    call.reads.variable(read, exists, false);
    return exists;
  }),
  nomadVarList: { least: 0, most: 1, run: listed },
  nomadVarListSafe: { least: 0, most: 1, run: listed },
};

/** A lookup function in the environment. Names of node properties that no node has are an error instead of being empty. */
function ofEnvironment(
  count: number,
  run: (value: string | undefined, args: readonly string[], call: Call) => Value,
): TemplateFunction {
  return {
    ...ofTexts(count, (args, call) => {
      const [name = ''] = args;
      if (!isUnknownOfNode(name)) return run(own(call.inputs.env, name), args, call);
      return call.fail(unknownReference(call.isWritten(name) ? quotedStart(name) : 'to the node'));
    }),
    refusal: (name) =>
      typeof name === 'string' && isUnknownOfNode(name) ? unknownReference(quotedStart(name)) : undefined,
  };
}

const nodeMembers = [
  'node.unique.id',
  'node.unique.name',
  'node.datacenter',
  'node.region',
  'node.class',
  'node.pool',
] as const;
/** Properties that every node has. */
export type NodeMember = (typeof nodeMembers)[number];

/** Whether the name looks like a node property but no node has it. */
function isUnknownOfNode(name: string): boolean {
  if (name === 'attr.' || name === 'meta.') return true;
  return name.startsWith('node.') && !nodeMembers.some((each) => each === name);
}

function unknownReference(name: string): string {
  return `unknown reference ${name}: nodes have ${nodeMembers.join(', ')}, attr.NAME and meta.NAME`;
}

/** The items by name; empty if the variable does not exist yet, in which case the rendering is not used. */
function items(read: VariableRead, call: Call): Value {
  const found = call.inputs.variable(read.path, read.namespace);
  call.reads.variable(read, found !== undefined, true);
  const entries = Object.entries(found ?? {});
  if (!call.spend(entries.reduce((sum, [name, value]) => sum + name.length + value.length + 1, 0))) return undefined;
  return new VariableItems(
    entries.map(([Key, text]) => [Key, { item: true, Key, Value: text, Path: read.path }] as const),
  );
}

function listed(args: readonly Value[], call: Call): Value {
  const read = args.length === 0 ? { path: '' } : variableFrom(args, call, '');
  if (read === undefined) return undefined;
  call.reads.prefix(read);
  const found = call.inputs.variables(read.path, read.namespace);
  if (!call.spend(found.reduce((sum, { path }) => sum + path.length + 1, 0))) return undefined;
  return found.map(({ path, namespace }) => ({ metadata: true, Path: path, Namespace: namespace }) as const);
}

/** Limit on the length of a path with its namespace, in characters. */
const LONGEST_PATH = 1_000;

/** A path, followed by `@` and a namespace unless it is the task's own. */
function variableFrom(args: readonly Value[], call: Call, otherwise?: string): VariableRead | undefined {
  const [text] = textsFrom(args, call) ?? [];
  if (text === undefined) return undefined;
  const [whole = '', namespace, ...more] = text.length > LONGEST_PATH ? [] : text.split('@');
  // A path prefix may end with a slash, a path may not.
  const path = trimWhiteSpace(whole).replace(otherwise === undefined ? /^\/+|\/+$/g : /^\/+/, '') || otherwise;
  if (path === undefined || more.length > 0 || (namespace !== undefined && !/^[\w-]+$/.test(namespace))) {
    return call.fail('a variable path is needed, such as a/b, or a/b@NAMESPACE for another namespace');
  }
  return namespace === undefined ? { path } : { path, namespace };
}
