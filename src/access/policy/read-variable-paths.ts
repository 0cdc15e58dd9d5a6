import {
  type NamespacePolicy,
  type VariableCapability,
  type VariablePathPolicy,
  variableCapabilities,
} from './policy.js';
import { areaBlock, bodyOf, type Faults, type NamedBlock, namedBlocks, textList } from './rules-blocks.js';
import { shown } from './rules-reader.js';
import type { RulesItem } from './rules-text.js';

/** The variable rules of a namespace: `variables { path "glob" { capabilities = […] } }`; null if there are none. */
export function readVariablePaths(items: readonly RulesItem[], faults: Faults): NamespacePolicy['Variables'] {
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
