import { durationTextFromNanos } from '../../shared/duration.js';
import { isRecord } from '../../shared/values.js';
import { canonicaliseSubmitted } from '../canonical/canonicalise-job.js';
import { emptyBlock } from '../document/decode-job.js';
import { type Block, type Field, type FieldSet, submittedFields } from '../document/field-table.js';
import { jobBlock, versionTagBlock } from '../document/job.js';
import type { SubmittedJob } from '../document/submitted-job.js';
import { fieldText } from './field-texts.js';
import { jobSpecification } from './job-blocks.js';
import type { SpecificationBlock } from './specification-table.js';

/**
 * The TypeScript types of the job document that a caller submits, generated from the tables of the document: every field with its
 * meaning, unit and default, as an editor shows it. The source of `src/jobs/document/job-input.ts`.
 */
export function renderJobInputTypes(): string {
  return [heading, ...collectBlocks().map(renderBlock)].join('\n');
}

/** Rules for every block of a registered document. */
const formText =
  'In every block a null field counts as not given, durations are strings or nanoseconds, and an unknown field is ' +
  'reported as a warning. docs/job-specification.md describes the blocks.';

const heading = `// Made by \`renderJobInputTypes\` from the tables in \`src/jobs\`. Do not edit.

import type { DurationInput } from './duration-input.js';
import type { JsonValue } from './field-table.js';
`;

interface Entry {
  readonly block: Block<FieldSet>;
  /** The block after the defaults of a service job were filled, or undefined when an empty one is dropped. */
  readonly defaults: Readonly<Record<string, unknown>> | undefined;
}

/** Every block once, in the order of first use. */
function collectBlocks(): Entry[] {
  const entries = new Map<Block<FieldSet>, Entry>();
  const visit = (block: Block<FieldSet>, sample: unknown): void => {
    if (entries.has(block)) return;
    const defaults = isRecord(sample) ? sample : undefined;
    entries.set(block, { block, defaults });
    for (const [name, field] of submittedFields(block)) {
      if (field.block !== undefined) visit(field.block, firstOf(field, defaults?.[name]));
    }
  };
  visit(jobBlock, canonicaliseSubmitted(sampleOf(jobBlock) as unknown as SubmittedJob));
  return [...entries.values()];
}

/** The block without any given field, but with one of every nested block. */
function sampleOf(block: Block<FieldSet>): Record<string, unknown> {
  const sample = emptyBlock(block);
  for (const [name, field] of submittedFields(block)) {
    if (field.block === undefined) continue;
    const inside = sampleOf(field.block);
    sample[name] = field.kind === 'block' ? inside : field.kind === 'blocks' ? [inside] : { label: inside };
  }
  return sample;
}

function firstOf(field: Field<unknown, unknown>, value: unknown): unknown {
  if (Array.isArray(value)) return value[0];
  return field.kind === 'block_map' && typeof value === 'object' && value !== null ? Object.values(value)[0] : value;
}

function renderBlock({ block, defaults }: Entry): string {
  const comment = renderComment(block === jobBlock ? `${blockText(block)} ${formText}` : blockText(block), '');
  if (submittedFields(block).length === 0)
    return `${comment}export type ${typeName(block)} = { readonly [name: string]: never };\n`;
  const members = submittedFields(block).map(([name, field]) => renderField(block, name, field, defaults?.[name]));
  return `${comment}export interface ${typeName(block)} {\n${members.join('')}}\n`;
}

function renderField(block: Block<FieldSet>, name: string, field: Field<unknown, unknown>, value: unknown): string {
  const about = fieldText(block, name);
  const tag = withoutEffect.test(about) ? '@deprecated ' : '';
  const sentences = [`${tag}${about}`, unitText(field), defaultText(field, value)].filter((text) => text !== '');
  return `${renderComment(sentences.join(' '), '  ')}  readonly ${name}?: ${fieldType(field)} | null;\n`;
}

/** How the descriptions of fields begin that are read for older documents only. */
const withoutEffect = /^(?:Has no effect|Ignored|An older form)/;

function typeName(block: Block<FieldSet>): string {
  return `${block.name}Input`;
}

function unitText(field: Field<unknown, unknown>): string {
  if (field.kind === 'duration') return 'A string such as `30s`, or nanoseconds.';
  if (field.kind !== 'integer' || field.bounds === undefined || field.bounds.max > 2 ** 32) return '';
  return `A whole number from ${field.bounds.min} to ${field.bounds.max}.`;
}

function defaultText(field: Field<unknown, unknown>, value: unknown): string {
  if (field.block !== undefined || value === null || value === undefined) return '';
  // A name composed of those of job, group and task is empty here or consists of hyphens.
  if (typeof value === 'string' && /^-*$/.test(value)) return '';
  // An empty list or map, and the zero value of a plain field, are not worth showing as a default.
  if (typeof value === 'object' || value === field.unset) return '';
  return `Default: \`${field.kind === 'duration' ? durationTextFromNanos(value as number) : String(value)}\`.`;
}

function fieldType(field: Field<unknown, unknown>): string {
  switch (field.kind) {
    case 'string':
      return field.values === undefined ? 'string' : field.values.map((value) => `'${value}'`).join(' | ');
    case 'base64':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'integer':
      return 'number';
    case 'duration':
      return 'DurationInput';
    case 'strings':
      return 'readonly string[]';
    case 'integers':
      return 'readonly number[]';
    case 'string_map':
      return '{ readonly [name: string]: string }';
    case 'string_list_map':
      return '{ readonly [name: string]: readonly string[] }';
    case 'free_form':
      return '{ readonly [name: string]: JsonValue }';
    case 'block':
      return nestedType(field);
    case 'blocks':
      return `readonly ${nestedType(field)}[]`;
    case 'block_map':
      return `{ readonly [label: string]: ${nestedType(field)} }`;
  }
}

function nestedType(field: Field<unknown, unknown>): string {
  return field.block === undefined ? 'never' : typeName(field.block);
}

function renderComment(text: string, indent: string): string {
  const lines = wrapped(text, 116 - `${indent} * `.length);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

/** Wraps to lines of at most `width` characters. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

/** The description of a block of the job document, with the block of a job specification that fills it. */
export function blockText(block: Block<FieldSet>): string {
  const standings = byDocument.get(block) ?? [];
  const abouts = [...new Set(standings.map(({ about }) => about))];
  if (abouts.length === 0) return withoutSpecification.get(block) ?? '';
  const names = [...new Set(standings.map(({ name }) => `\`${name}\``))].join(' or ');
  const meaning =
    abouts.length === 1
      ? abouts.join('')
      : standings.map(({ parent, about }) => `In \`${parent}\`: ${about}`).join(' ');
  return `${meaning} The block ${names} of a job specification.`;
}

/** Blocks that only the JSON form has. */
const withoutSpecification: ReadonlyMap<Block<FieldSet>, string> = new Map([
  [versionTagBlock, 'The name under which a version of the job is kept. Only in the JSON form.'],
]);

interface Standing {
  readonly name: string;
  readonly about: string;
  readonly parent: string;
}

const byDocument = collectStandings();

/** The places of each document block in a specification, in the order of its first appearance. */
function collectStandings(): ReadonlyMap<Block<FieldSet>, readonly Standing[]> {
  const standings = new Map<Block<FieldSet>, Standing[]>();
  const visited = new Set<SpecificationBlock>();
  const visit = (parent: string, name: string, block: SpecificationBlock): void => {
    standings.set(block.document, [...(standings.get(block.document) ?? []), { name, about: block.about, parent }]);
    if (visited.has(block)) return;
    visited.add(block);
    for (const [childName, child] of Object.entries(block.blocks))
      if ('block' in child) visit(name, childName, child.block);
  };
  visit('', 'job', jobSpecification);
  return standings;
}
