import { err, ok, type Result } from 'neverthrow';
import { capabilityFromName, expandPolicy } from '../capability.js';
import {
  areaBlock,
  bodyOf,
  Faults,
  type NamedBlock,
  namedBlocks,
  positionOf,
  type RulesFault,
  type RulesItem,
  readRulesText,
  shown,
  textList,
  textMember,
} from './rules-text.js';

/**
 * The parsed rules of a policy, in the wire's member names (job interface, policies). Capabilities are listed as
 * written, followed by those of the shorthand.
 */
export interface Policy {
  /** Rules by namespace; null if there are none. */
  readonly Namespaces: readonly NamespacePolicy[] | null;
  /** Rules by node pool; null if there are none. */
  readonly NodePools: readonly NamedPolicy[] | null;
  /** Rules by host volume; null if there are none. */
  readonly HostVolumes: readonly NamedPolicy[] | null;
  /** The agent's own calls, such as its log; null if there is no rule. */
  readonly Agent: AreaPolicy | null;
  /** Nodes and their metadata; null if there is no rule. */
  readonly Node: AreaPolicy | null;
  /** Settings of the installation; null if there is no rule. */
  readonly Operator: OperatorPolicy | null;
  /** Null if there is no rule. No call requires this right. */
  readonly Quota: AreaPolicy | null;
  /** Plugins for volumes; null if there is no rule. */
  readonly Plugin: AreaPolicy | null;
  /** Null if there is no rule. No call requires this right. */
  readonly Sentinel: AreaPolicy | null;
  /** The source text. */
  readonly Raw: string;
  /** Always null: unknown keys are refused. */
  readonly ExtraKeysHCL: null;
}

/** A rule for objects whose names match a glob. */
export interface NamedPolicy {
  /** The name, or a glob in which `*` stands for any characters. */
  readonly Name: string;
  /** `''` if only capabilities are given. */
  readonly Policy: string;
  /** Null if nothing is granted. */
  readonly Capabilities: readonly string[] | null;
}

/** A rule for the namespaces whose names match, with the rights on their variables. */
export interface NamespacePolicy extends NamedPolicy {
  /** Rights on variables by path; null if there is no rule. */
  readonly Variables: { readonly Paths: readonly VariablePathPolicy[] } | null;
}

/** A rule for the variables of a namespace whose paths match. */
export interface VariablePathPolicy {
  /** A path or a glob. */
  readonly PathSpec: string;
  /** As written; `read` implies `list`. */
  readonly Capabilities: readonly VariableCapability[];
}

/** The access level of an area that has no named objects: `list`, `read`, `write`, `scale` or `deny`. */
export interface AreaPolicy {
  /** `list` exists for plugins only. */
  readonly Policy: string;
}

/** The access level of the operator's area. The capabilities are only shown: the level decides. */
export interface OperatorPolicy extends AreaPolicy {
  /** As written, followed by those of the level; null if there are none. */
  readonly Capabilities: readonly string[] | null;
}

/** The rights that a policy can grant on variables. */
export const variableCapabilities = ['list', 'read', 'write', 'destroy', 'deny'] as const;
/** One right on variables; `deny` takes all others away. */
export type VariableCapability = (typeof variableCapabilities)[number];

/** The rights that a policy can grant on node pools. */
export const nodePoolCapabilities = ['read', 'write', 'delete', 'deny'] as const;
/** One right on node pools; `deny` takes all others away. */
export type NodePoolCapability = (typeof nodePoolCapabilities)[number];

/** The rights that a policy can grant on host volumes. */
export const hostVolumeCapabilities = ['mount-readonly', 'mount-readwrite', 'deny'] as const;
/** One right on host volumes; `deny` takes all others away. */
export type HostVolumeCapability = (typeof hostVolumeCapabilities)[number];

/** Areas with a single access level. */
export const areas = ['agent', 'node', 'operator', 'quota', 'plugin', 'sentinel'] as const;
/** One of the areas that a policy grants with a single access level. */
export type Area = (typeof areas)[number];

/** `list` exists for plugins only; `scale` grants nothing in an area. */
export type AreaLevel = 'list' | 'read' | 'write' | 'scale' | 'deny';

/** Access levels of areas other than plugins. */
const levels: ReadonlySet<string> = new Set(['read', 'write', 'scale', 'deny']);
const pluginLevels: ReadonlySet<string> = new Set(['read', 'list', 'deny']);
const blocks: ReadonlySet<string> = new Set([
  'namespace',
  'node_pool',
  'host_volume',
  'agent',
  'node',
  'operator',
  'quota',
  'plugin',
  'sentinel',
]);

/**
 * Parses the rules of a policy (job interface, policies), in version 1 of the configuration language or in JSON. An empty string has no
 * rules. Refused, with line and column: syntax errors, unknown names, words and blocks, and a string without any block.
 * Unknown members of a known block are ignored, as in Nomad.
 */
export function parsePolicy(text: string): Result<Policy, RulesFault> {
  if (text === '') return ok(emptyPolicy);
  return readRulesText(text).andThen((items) => {
    const faults = new Faults();
    const policy = policyFrom(items, text, faults);
    const { first } = faults;
    return first === undefined ? ok(policy) : err({ message: first.message, ...positionOf(text, first.at) });
  });
}

const emptyPolicy: Policy = {
  Namespaces: null,
  NodePools: null,
  HostVolumes: null,
  Agent: null,
  Node: null,
  Operator: null,
  Quota: null,
  Plugin: null,
  Sentinel: null,
  Raw: '',
  ExtraKeysHCL: null,
};

function policyFrom(items: readonly RulesItem[], text: string, faults: Faults): Policy {
  const unknown = items.find(({ keys }) => !blocks.has(keys[0]));
  if (unknown !== undefined) faults.note(`there is no block "${shown(unknown.keys[0])}" in rules`, unknown.at);
  if (items.length === 0) faults.note('the rules say nothing: a block such as namespace or node is needed', 0);
  return {
    Namespaces: noneAsNull(namedBlocks(items, 'namespace', faults).map((block) => namespacePolicy(block, faults))),
    NodePools: noneAsNull(namedBlocks(items, 'node_pool', faults).map((block) => namedPolicy(block, nodePool, faults))),
    HostVolumes: noneAsNull(
      namedBlocks(items, 'host_volume', faults).map((block) => namedPolicy(block, hostVolume, faults)),
    ),
    Agent: areaPolicy(items, 'agent', levels, faults),
    Node: areaPolicy(items, 'node', levels, faults),
    Operator: operatorPolicy(items, faults),
    Quota: areaPolicy(items, 'quota', levels, faults),
    Plugin: areaPolicy(items, 'plugin', pluginLevels, faults),
    Sentinel: areaPolicy(items, 'sentinel', levels, faults),
    Raw: text,
    ExtraKeysHCL: null,
  };
}

function noneAsNull<T>(values: readonly T[]): readonly T[] | null {
  return values.length === 0 ? null : values;
}

function namespacePolicy(block: NamedBlock, faults: Faults): NamespacePolicy {
  const { items, at, name } = block;
  checkName(block, { what: 'namespace', valid: /^[A-Za-z0-9*-]{1,128}$/ }, faults);
  const level = levelIn({ items, at }, 'namespace', levels, faults);
  const written = textList(items, 'capabilities', faults);
  const odd = written?.find((capability) => capabilityFromName(capability) === undefined);
  if (odd !== undefined) faults.note(`there is no namespace capability "${shown(odd)}"`, at);
  const granted = expandPolicy(level, written ?? []);
  return {
    Name: name,
    Policy: level,
    Capabilities: level === '' && written === undefined ? null : granted,
    Variables: readVariablePaths(items, faults),
  };
}

/** Objects with rules by name: valid names, and capabilities. */
interface NamedKind {
  readonly what: string;
  readonly valid: RegExp;
  readonly capabilities: readonly string[];
  /** Capabilities of each shorthand. */
  readonly words: Readonly<Partial<Record<string, readonly string[]>>>;
}

const nodePool: NamedKind = {
  what: 'node pool',
  valid: /^[A-Za-z0-9_*-]{1,128}$/,
  capabilities: nodePoolCapabilities,
  words: { deny: ['deny'], read: ['read'], write: ['delete', 'read', 'write'] },
};

const hostVolume: NamedKind = {
  what: 'host volume',
  valid: /^[A-Za-z0-9*-]{1,128}$/,
  capabilities: hostVolumeCapabilities,
  words: { deny: ['deny'], read: ['mount-readonly'], write: ['mount-readonly', 'mount-readwrite'] },
};

function namedPolicy(block: NamedBlock, kind: NamedKind, faults: Faults): NamedPolicy {
  const { name, items, at } = block;
  checkName(block, kind, faults);
  const level = levelIn({ items, at }, kind.what, levels, faults);
  const written = textList(items, 'capabilities', faults);
  const odd = written?.find((capability) => !kind.capabilities.includes(capability));
  if (odd !== undefined) faults.note(`there is no ${kind.what} capability "${shown(odd)}"`, at);
  const granted = [...(written ?? []), ...((levels.has(level) ? kind.words[level] : undefined) ?? [])];
  return { Name: name, Policy: level, Capabilities: level === '' && written === undefined ? null : granted };
}

function checkName(
  { name, at }: NamedBlock,
  { what, valid }: { readonly what: string; readonly valid: RegExp },
  faults: Faults,
): void {
  if (valid.test(name)) return;
  faults.note(name === '' ? `a block for a ${what} has no name` : `"${shown(name)}" is not a name of a ${what}`, at);
}

/** The shorthand of a block; `''` if it has none. */
function levelIn(
  { items, at }: { readonly items: readonly RulesItem[]; readonly at: number },
  what: string,
  known: ReadonlySet<string>,
  faults: Faults,
): string {
  const level = textMember(items, 'policy', faults) ?? '';
  if (level === '' || known.has(level)) return level;
  faults.note(`"${shown(level)}" is not a policy: ${what} takes ${[...known].join(', ')}`, at);
  return '';
}

function areaPolicy(
  items: readonly RulesItem[],
  area: string,
  known: ReadonlySet<string>,
  faults: Faults,
): AreaPolicy | null {
  const block = areaBlock(items, area, faults);
  if (block === undefined) return null;
  const level = levelIn({ items: bodyOf(block, faults), at: block.at }, area, known, faults);
  if (level === '') faults.note(`the block ${area} needs a policy`, block.at);
  return { Policy: level };
}

/** Capabilities of the shorthands of the operator area. They are only shown: access is decided by the level. */
const operatorCapabilities: readonly string[] = ['license-read', 'keyring-read'];

function operatorPolicy(items: readonly RulesItem[], faults: Faults): OperatorPolicy | null {
  const area = areaPolicy(items, 'operator', levels, faults);
  const block = areaBlock(items, 'operator', faults);
  if (area === null || block === undefined) return null;
  const written = textList(bodyOf(block, faults), 'capabilities', faults) ?? [];
  const odd = written.find((name) => !operatorCapabilities.includes(name));
  if (odd !== undefined) faults.note(`there is no operator capability "${shown(odd)}"`, block.at);
  const granted = area.Policy === 'read' || area.Policy === 'write' ? operatorCapabilities : [];
  return { Policy: area.Policy, Capabilities: [...written, ...granted] };
}

/** The variable rules of a namespace: `variables { path "glob" { capabilities = […] } }`; null if there are none. */
function readVariablePaths(items: readonly RulesItem[], faults: Faults): NamespacePolicy['Variables'] {
  const block = areaBlock(items, 'variables', faults);
  if (block === undefined) return null;
  const paths = namedBlocks(bodyOf(block, faults), 'path', faults).map((path) => pathPolicy(path, faults));
  if (paths.length === 0) faults.note('the block variables needs a block path', block.at);
  return { Paths: paths };
}

function pathPolicy({ name, items, at }: NamedBlock, faults: Faults): VariablePathPolicy {
  if (name === '') faults.note('the block path has no path', at);
  if (name.length > 256) faults.note('a path has at most 256 characters', at);
  const capabilities: VariableCapability[] = [];
  for (const written of textList(items, 'capabilities', faults) ?? []) {
    const known = variableCapabilities.find((candidate) => candidate === written);
    if (known === undefined) faults.note(`there is no variable capability "${shown(written)}"`, at);
    else capabilities.push(known);
  }
  return { PathSpec: name, Capabilities: expanded(capabilities) };
}

/** `read` implies `list`; `deny` removes all others. */
function expanded(capabilities: readonly VariableCapability[]): readonly VariableCapability[] {
  if (capabilities.includes('deny')) return ['deny'];
  return capabilities.includes('read') && !capabilities.includes('list') ? [...capabilities, 'list'] : capabilities;
}
