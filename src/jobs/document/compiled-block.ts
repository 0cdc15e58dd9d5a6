import { type Block, type Field, type FieldKind, type FieldSet, submittedFields } from './field-table.js';
import { fastShape, type ShapeCopier, shapeCopier } from './stored-form.js';

/** The submitted form of a block without any given field. */
export function emptyBlock(block: Block<FieldSet>): Record<string, unknown> {
  const { copy, template } = compileBlock(block);
  return copy(template);
}

export type Template = Record<string, unknown>;

export interface CompiledField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly unset: unknown;
  readonly min: number;
  readonly max: number;
  readonly block: CompiledBlock | undefined;
}

export interface CompiledBlock {
  readonly template: Template;
  readonly copy: ShapeCopier;
  /** By exact name and by lower-case name. */
  readonly byName: ReadonlyMap<string, CompiledField>;
}

const compiledBlocks = new WeakMap<Block<FieldSet>, CompiledBlock>();

/** Compiled on first use, so that a process that reads no job starts faster. */
export function compileBlock(block: Block<FieldSet>): CompiledBlock {
  const known = compiledBlocks.get(block);
  if (known !== undefined) return known;
  const template: Template = {};
  const byName = new Map<string, CompiledField>();
  for (const [name, field] of submittedFields(block)) {
    const compiled = compileField(name, field);
    if (field.absentWhenUnset !== true) template[name] = compiled.unset;
    byName.set(name, compiled);
    byName.set(name.toLowerCase(), compiled);
  }
  const compiled: CompiledBlock = { template: fastShape(template), copy: shapeCopier(), byName };
  compiledBlocks.set(block, compiled);
  return compiled;
}

function compileField(name: string, field: Field<unknown, unknown>): CompiledField {
  return {
    name,
    kind: field.kind,
    unset: field.unset,
    min: field.bounds?.min ?? 0,
    max: field.bounds?.max ?? 0,
    block: field.block === undefined ? undefined : compileBlock(field.block),
  };
}
