import type { Block, FieldSet } from '../document/fields/field-table.js';
import { versionTagBlock } from '../document/fields/job-fields.js';
import { jobSpecification } from './job-blocks.js';
import type { SpecificationBlock } from './specification-table.js';

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
