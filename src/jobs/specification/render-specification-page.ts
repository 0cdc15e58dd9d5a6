import { durationTextFromNanos } from '../../shared/duration.js';
import { isRecord } from '../../shared/values.js';
import { canonicaliseSubmitted } from '../canonical/canonicalise-job.js';
import { emptyBlock } from '../document/decode-job.js';
import type { Field } from '../document/field-table.js';
import type { SubmittedJob } from '../document/submitted-job.js';
import { fieldText } from './field-texts.js';
import { jobSpecification } from './job-blocks.js';
import { type Child, type Draft, fieldOf, type SpecificationBlock } from './specification-table.js';

/**
 * The reference page of the job specification as Markdown, generated from the table that reads specifications and from the
 * function that fills defaults, so that it cannot disagree with them.
 */
export function renderSpecificationPage(): string {
  const entries = collectBlocks();
  return [introduction(entries), ...entries.map(renderBlock)].join('\n');
}

interface Entry {
  readonly name: string;
  readonly block: SpecificationBlock;
  /** The blocks that may contain it. */
  readonly parents: Set<string>;
  readonly times: 'once' | 'repeatable' | 'labelled';
  /** The block after the defaults of a service job were filled, or undefined when an empty one is dropped. */
  readonly defaults: Draft | undefined;
}

/** A block that may contain this one, and how often. */
interface Standing {
  readonly parent: string | undefined;
  readonly times: Entry['times'];
  readonly defaults: unknown;
}

/** Every block once, in the order of its first appearance, with all blocks that may contain it. */
function collectBlocks(): Entry[] {
  const entries = new Map<SpecificationBlock, Entry>();
  const job = canonicaliseSubmitted(sampleOf(jobSpecification) as unknown as SubmittedJob);
  const visit = (name: string, block: SpecificationBlock, { parent, times, defaults }: Standing): void => {
    const known = entries.get(block);
    if (known !== undefined) {
      if (parent !== undefined) known.parents.add(parent);
      return;
    }
    const filled = isRecord(defaults) ? defaults : undefined;
    entries.set(block, {
      name,
      block,
      parents: new Set(parent === undefined ? [] : [parent]),
      times,
      defaults: filled,
    });
    for (const [childName, child] of Object.entries(block.blocks)) {
      if (!('block' in child)) continue;
      const value = child.as === 'inherited' ? undefined : filled?.[child.field];
      const within = `\`${name}\``;
      visit(childName, child.block, { parent: within, times: timesOf(child), defaults: sampleFrom(child, value) });
    }
  };
  visit('job', jobSpecification, { parent: undefined, times: 'once', defaults: job });
  return [...entries.values()];
}

function timesOf(child: Child): Entry['times'] {
  if (child.as === 'keyed') return 'labelled';
  return child.as === 'many' || (child.as === 'inherited' && child.times === 'many') ? 'repeatable' : 'once';
}

function sampleFrom(child: Child, value: unknown): unknown {
  if (Array.isArray(value)) return value[0];
  return child.as === 'keyed' && typeof value === 'object' && value !== null ? Object.values(value)[0] : value;
}

/** The block without any given field, but with one of every nested block. */
function sampleOf(block: SpecificationBlock): Draft {
  const draft = emptyBlock(block.document);
  for (const child of Object.values(block.blocks)) {
    if (child.as === 'one') draft[child.field] = sampleOf(child.block);
    if (child.as === 'many') draft[child.field] = [sampleOf(child.block)];
    if (child.as === 'keyed') draft[child.field] = { label: sampleOf(child.block) };
  }
  return draft;
}

function introduction(entries: readonly Entry[]): string {
  const attributes = entries.reduce((sum, { block }) => sum + Object.keys(block.attributes).length, 0);
  return `# Job specification

<!-- Made by \`renderSpecificationPage\` from the table in \`src/jobs/specification\`. Do not edit. -->

A job specification is a file in HCL with one \`job\` block. \`parseJob\` reads it, and so does the parse operation of the HTTP
interface. The ${entries.length} kinds of blocks and their ${attributes} attributes are below; the column *Field* names the field of the job
document (the JSON form of a job) that an attribute fills.

\`\`\`hcl
job "web" {
  group "app" {
    count = 2

    network {
      port "http" { to = 8080 }
    }

    task "server" {
      driver = "raw_exec"
      config {
        command = "/usr/local/bin/server"
      }
      env {
        PORT = "\${NOMAD_PORT_http}"
      }
    }
  }
}
\`\`\`

Rules that hold everywhere:

* Beside the job there may be \`variable\`, \`variables\` and \`locals\` blocks. Names that nobody declared, such as
  \`\${NOMAD_PORT_http}\` or \`\${attr.kernel.name}\`, stay in the text: the node replaces them.
* Every block below \`job\` may be made by a \`dynamic\` block.
* A *duration* is a string such as \`"1h30m"\` or \`"250ms"\` (units ns, us, ms, s, m, h) or a whole number of nanoseconds.
* \`null\` means "not given" for every attribute but durations and those marked *plain*.
* The column *Default* says what a job of type \`service\` gets when nothing is given. Other types differ in \`update\`,
  \`restart\`, \`reschedule\` and \`migrate\`.
`;
}

function renderBlock({ name, block, parents, times, defaults }: Entry): string {
  const label = block.discardedLabel ?? block.label;
  const heading = label === undefined ? name : `${name} "${label.toLowerCase()}"`;
  const rows = [...attributeRows(block, defaults), ...shorthandRows(block), ...childRows(block)];
  const table = ['| Name | Kind | Field | Default | Meaning |', '|---|---|---|---|---|', ...rows].join('\n');
  return `## ${heading}

${block.about} ${parentsText(parents, times)}
${rows.length === 0 ? '\nNothing stands inside.\n' : `\n${table}\n`}`;
}

function parentsText(parents: ReadonlySet<string>, times: Entry['times']): string {
  if (parents.size === 0) return 'Stands at the top level, exactly once.';
  return `In ${[...parents].join(', ')}; ${timesText(times)}.`;
}

function timesText(times: Entry['times']): string {
  if (times === 'labelled') return 'any number, distinguished by label';
  return times === 'once' ? 'at most once' : 'any number';
}

function attributeRows(block: SpecificationBlock, defaults: Draft | undefined): string[] {
  return Object.entries(block.attributes).map(([name, fieldName]) => {
    const field = fieldOf(block, fieldName);
    const plain = field.unset === null ? '' : ', plain';
    const kind =
      block.required?.includes(name) === true ? `${kindText(field)}, required` : `${kindText(field)}${plain}`;
    const meaning = fieldText(block.document, fieldName);
    return row(`\`${name}\``, kind, `\`${fieldName}\``, defaultText(field, defaults?.[fieldName]), meaning);
  });
}

function shorthandRows(block: SpecificationBlock): string[] {
  return Object.entries(block.shorthands ?? {}).map(([name, { is, about }]) => {
    const kind = is === 'bool' ? 'true or false' : is === 'number' ? 'number' : 'string';
    return row(`\`${name}\``, kind, '', '', about);
  });
}

function childRows(block: SpecificationBlock): string[] {
  return Object.entries(block.blocks).map(([name, child]) => childRow(block, name, child));
}

function childRow(block: SpecificationBlock, name: string, child: Child): string {
  const meaning = 'field' in child ? fieldText(block.document, child.field) : inheritedText(name);
  return row(`\`${name}\``, childKind(child), 'field' in child ? `\`${child.field}\`` : '', '', meaning);
}

function childKind(child: Child): string {
  switch (child.as) {
    case 'one':
      return 'block';
    case 'many':
      return 'blocks';
    case 'keyed':
      return 'blocks by label';
    case 'free_form':
      return 'block with anything inside';
    case 'map': {
      const values = child.values === 'string' ? 'strings' : 'lists of strings';
      return `${child.orAttribute ? 'block or attribute' : 'block'} of names and ${values}`;
    }
    case 'inherited':
      return child.times === 'once' ? 'block' : 'blocks';
  }
}

function inheritedText(name: string): string {
  if (name === 'task') return 'A group with this one task, before the other groups.';
  return name === 'vault' ? 'For every task below that has no such block.' : 'Added to every task below.';
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function kindText(field: Field<unknown, unknown>): string {
  switch (field.kind) {
    case 'string':
      return field.values?.map((value) => `\`${value}\``).join(', ') ?? 'string';
    case 'base64':
      return 'string';
    case 'boolean':
      return 'true or false';
    case 'integer':
      return field.bounds === undefined || field.bounds.max > 2 ** 32
        ? 'whole number'
        : `whole number from ${field.bounds.min} to ${field.bounds.max}`;
    case 'duration':
      return 'duration';
    case 'strings':
      return 'list of strings';
    case 'integers':
      return 'list of whole numbers';
    case 'string_map':
      return 'map of strings';
    case 'string_list_map':
      return 'map of lists of strings';
    case 'free_form':
    case 'block':
    case 'blocks':
    case 'block_map':
      return 'anything';
  }
}

function defaultText(field: Field<unknown, unknown>, value: unknown): string {
  // A name composed of those of job, group and task is empty here or consists of hyphens.
  if (value === null || value === undefined || (typeof value === 'string' && /^-*$/.test(value))) return '';
  if (field.kind === 'duration') return `\`${typeof value === 'number' ? durationTextFromNanos(value) : ''}\``;
  // The zero value of a plain field is not worth showing as a default.
  if (value === field.unset) return '';
  return `\`${JSON.stringify(value)}\``;
}
