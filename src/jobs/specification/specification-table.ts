import type {
  AttributeKind,
  AttributeSchema,
  BlockSchema,
  BodySchema,
  DecodedBlock,
  Report,
} from '../../hcl/decode/schema.js';
import { type Block, type Field, type FieldSet, submittedFields } from '../document/field-table.js';

/*
 * The job specification is described once, as data: its blocks, their contents, and the field of the
 * job document that each of them fills. The types of the fields come from the document's table. The reader of specifications and
 * the documentation page both use this description.
 */

/** A submitted block that is being read; the fields are those of its document block. */
export type Draft = Record<string, unknown>;

export interface SpecificationBlock {
  /** One sentence for the documentation. */
  readonly about: string;
  readonly document: Block<FieldSet>;
  /** The field that the block's label fills. */
  readonly label?: string;
  /** The name of a label that fills no field directly: `finish` reads it. */
  readonly discardedLabel?: string;
  /** Attribute name to document field. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Attributes that must be given. */
  readonly required?: readonly string[];
  /** Attributes without a field of the document: `finish` reads them. */
  readonly shorthands?: Readonly<Record<string, Shorthand>>;
  readonly blocks: Readonly<Record<string, Child>>;
  /** Rules that consider more than one field. Changes the draft. */
  readonly finish?: (draft: Draft, block: DecodedBlock, report: Report) => void;
}

/** The description of a block: what cannot be derived from its document block. */
interface BlockDescription extends Omit<SpecificationBlock, 'about' | 'document' | 'attributes' | 'blocks'> {
  /** Names of attributes that are not those of their fields in lower case with underscores. */
  readonly names?: Readonly<Record<string, string>>;
  /** Fields without an attribute, beside those that the label or an inner block fills. */
  readonly omitted?: readonly string[];
  readonly blocks?: SpecificationBlock['blocks'];
}

/** A block with an attribute for each field that nothing else fills. `about`: one sentence for the documentation. */
export function specified(
  document: Block<FieldSet>,
  about: string,
  { names = {}, omitted = [], blocks = {}, ...others }: BlockDescription = {},
): SpecificationBlock {
  const inner = Object.values(blocks).flatMap((child) => ('field' in child ? [child.field] : []));
  const filled = new Set([...inner, ...omitted, others.label]);
  const nameOf = new Map(Object.entries(names).map(([name, field]) => [field, name]));
  const attributes = submittedFields(document).flatMap(([field, { block: part }]) =>
    part === undefined && !filled.has(field) ? [[nameOf.get(field) ?? lowerCase(field), field] as const] : [],
  );
  return { about, document, ...others, blocks, attributes: Object.fromEntries(attributes) };
}

/** `ShutdownDelay` as `shutdown_delay`, `CNIArgs` as `cni_args`. */
function lowerCase(field: string): string {
  return field.replaceAll(/([a-z0-9])([A-Z])|([A-Z]+)(?=[A-Z][a-z])/g, '$1$3_$2').toLowerCase();
}

export interface Shorthand {
  readonly is: AttributeKind;
  readonly about: string;
}

/** A block inside a block. */
export type Child =
  | { readonly as: 'one' | 'many' | 'keyed'; readonly field: string; readonly block: SpecificationBlock }
  /** `name = value` pairs. `orAttribute`: may also be given as `meta = { … }`. */
  | {
      readonly as: 'map';
      readonly field: string;
      readonly values: 'string' | 'stringList';
      readonly orAttribute: boolean;
    }
  | { readonly as: 'free_form'; readonly field: string }
  /** Not a field: kept beside the draft for the rules that make tasks inherit it. */
  | { readonly as: 'inherited'; readonly times: 'once' | 'many'; readonly block: SpecificationBlock };

export const one = (field: string, block: SpecificationBlock): Child => ({ as: 'one', field, block });
export const many = (field: string, block: SpecificationBlock): Child => ({ as: 'many', field, block });
export const keyed = (field: string, block: SpecificationBlock): Child => ({ as: 'keyed', field, block });
export const freeForm = (field: string): Child => ({ as: 'free_form', field });
export const map = (field: string): Child => ({ as: 'map', field, values: 'string', orAttribute: false });
export const listMap = (field: string): Child => ({ as: 'map', field, values: 'stringList', orAttribute: false });
export const mapOrAttribute = (field: string): Child => ({ as: 'map', field, values: 'string', orAttribute: true });
export const inherited = (times: 'once' | 'many', block: SpecificationBlock): Child => ({
  as: 'inherited',
  times,
  block,
});

const schemas = new WeakMap<SpecificationBlock, BodySchema>();

/** The schema of a block for the language's decoder. */
export function schemaOf(block: SpecificationBlock): BodySchema {
  const known = schemas.get(block);
  if (known !== undefined) return known;
  const attributes: Record<string, AttributeSchema> = {};
  const blocks: Record<string, BlockSchema> = {};
  for (const [name, field] of Object.entries(block.attributes)) {
    attributes[name] = attributeSchema(fieldOf(block, field), block.required?.includes(name) === true);
  }
  for (const [name, { is }] of Object.entries(block.shorthands ?? {})) attributes[name] = { is, nullable: true };
  for (const [name, child] of Object.entries(block.blocks)) {
    blocks[name] = childSchema(child);
    if (child.as === 'map' && child.orAttribute) attributes[name] = { is: 'stringMap', nullable: true };
  }
  const schema: BodySchema = { attributes, blocks };
  schemas.set(block, schema);
  return schema;
}

export function fieldOf(block: SpecificationBlock, name: string): Field<unknown, unknown> {
  const field = block.document.fields[name];
  if (field === undefined) throw new Error(`the document block ${block.document.name} has no field ${name}`);
  return field;
}

function childSchema(child: Child): BlockSchema {
  switch (child.as) {
    case 'one':
      return { times: 'once', ...labelsOf(child.block), body: () => schemaOf(child.block) };
    case 'many':
    case 'keyed':
      return { times: 'many', ...labelsOf(child.block), body: () => schemaOf(child.block) };
    case 'inherited':
      return { times: child.times, ...labelsOf(child.block), body: () => schemaOf(child.block) };
    case 'map':
      return { times: 'once', body: { otherAttributes: { is: child.values } } };
    case 'free_form':
      return { times: 'once', body: 'freeForm' };
  }
}

function labelsOf(block: SpecificationBlock): { labels?: readonly string[] } {
  const label = block.discardedLabel ?? block.label?.toLowerCase();
  return label === undefined ? {} : { labels: [label] };
}

/** A duration cannot be unset by null; every other field that can be "not given" can. */
function attributeSchema(field: Field<unknown, unknown>, required: boolean): AttributeSchema {
  const nullable = field.unset === null && field.kind !== 'duration';
  return { is: attributeKind(field), ...(required ? { required } : {}), ...(nullable ? { nullable } : {}) };
}

function attributeKind(field: Field<unknown, unknown>): AttributeKind {
  const range = (): readonly [number, number] => [field.bounds?.min ?? 0, field.bounds?.max ?? 0];
  switch (field.kind) {
    case 'string':
    case 'base64':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'integer':
      return { integer: range() };
    case 'duration':
      return 'duration';
    case 'strings':
      return 'stringList';
    case 'integers':
      return { integerList: range() };
    case 'string_map':
      return 'stringMap';
    case 'string_list_map':
      return 'stringListMap';
    case 'free_form':
    case 'block':
    case 'blocks':
    case 'block_map':
      return 'any';
  }
}
