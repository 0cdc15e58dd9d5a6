import { shown } from './rules-reader.js';
import type { RulesItem, RulesValue } from './rules-text.js';

/** The first error of a rules source, by position. */
export class Faults {
  first: { readonly message: string; readonly at: number } | undefined;

  note(message: string, at: number): undefined {
    if (this.first === undefined || at < this.first.at) this.first = { message, at };
    return undefined;
  }
}

/** A block with a label: `namespace "default" { … }`. */
export interface NamedBlock {
  /** `''` when the label is missing. */
  readonly name: string;
  readonly items: readonly RulesItem[];
  readonly at: number;
}

/**
 * All blocks of a kind, in order: each with its label or, in JSON, several labels as members of one object
 * (`{"namespace": {"a": {…}, "b": {…}}}`), which may be in a list.
 */
export function namedBlocks(items: readonly RulesItem[], kind: string, faults: Faults): readonly NamedBlock[] {
  return items.filter(({ keys }) => keys[0] === kind).flatMap((item) => labelled(item, kind, faults));
}

function labelled({ keys, value, assigned, at }: RulesItem, kind: string, faults: Faults): readonly NamedBlock[] {
  const [, name, ...more] = keys;
  if (more.length > 0) faults.note(`a block ${kind} has one label`, at);
  const bodies = objectsIn(value, kind, at, faults);
  if (name !== undefined || !assigned) return bodies.map((items) => ({ name: name ?? '', items, at }));
  return bodies.flatMap((members) =>
    members.flatMap((member) =>
      objectsIn(member.value, kind, member.at, faults).map((items) => ({ name: member.keys[0], items, at: member.at })),
    ),
  );
}

/** The single block of a kind without labels; undefined if there is none. */
export function areaBlock(items: readonly RulesItem[], kind: string, faults: Faults): RulesItem | undefined {
  const [block, second] = items.filter(({ keys }) => keys[0] === kind);
  if (second !== undefined) faults.note(`the block ${kind} is given twice here`, second.at);
  if (block !== undefined && block.keys.length > 1) faults.note(`a block ${kind} has no label`, block.at);
  return block;
}

/** The members of a block. A list of objects is merged to one block. */
export function bodyOf({ keys, value, at }: RulesItem, faults: Faults): readonly RulesItem[] {
  return objectsIn(value, keys[0], at, faults).flat();
}

function objectsIn(value: RulesValue, kind: string, at: number, faults: Faults): readonly (readonly RulesItem[])[] {
  const values = value.type === 'list' ? value.values : [value];
  return values.map((entry) => {
    if (entry.type === 'object') return entry.items;
    faults.note(`${shown(kind)} must be a block`, at);
    return [];
  });
}

/** The string of a member; undefined when it is absent or null. */
export function textMember(items: readonly RulesItem[], name: string, faults: Faults): string | undefined {
  const [member, second] = membersNamed(items, name);
  if (second !== undefined) faults.note(`"${name}" is given twice here`, second.at);
  if (member === undefined || member.value.type === 'nothing') return undefined;
  if (member.value.type === 'text') return member.value.text;
  return faults.note(`"${name}" must be a string`, member.at);
}

/** The strings of a member, given as a list or as a single string; undefined if absent or null. Repeated members are concatenated. */
export function textList(items: readonly RulesItem[], name: string, faults: Faults): readonly string[] | undefined {
  const members = membersNamed(items, name).filter(({ value }) => value.type !== 'nothing');
  if (members.length === 0) return undefined;
  return members.flatMap(({ value, at }) =>
    (value.type === 'list' ? value.values : [value]).flatMap((entry) => {
      if (entry.type === 'text') return [entry.text];
      faults.note(`"${name}" must be a list of strings`, at);
      return [];
    }),
  );
}

function membersNamed(items: readonly RulesItem[], name: string): readonly RulesItem[] {
  return items.filter(({ keys }) => keys.length === 1 && keys[0] === name);
}
