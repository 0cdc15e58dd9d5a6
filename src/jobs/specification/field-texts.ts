import type { Block, FieldSet } from '../document/field-table.js';
import type { BlockTexts } from './field-texts/field-texts.js';
import { groupTexts } from './field-texts/group-texts.js';
import { jobTexts } from './field-texts/job-texts.js';
import { meshTexts } from './field-texts/mesh-texts.js';
import { placementTexts } from './field-texts/placement-texts.js';
import { serviceTexts } from './field-texts/service-texts.js';
import { taskTexts } from './field-texts/task-texts.js';

/** The strings of every block of the job document. */
export const blockTexts: readonly BlockTexts[] = [
  ...jobTexts,
  ...groupTexts,
  ...taskTexts,
  ...placementTexts,
  ...serviceTexts,
  ...meshTexts,
];

const byBlock = new Map(blockTexts.map(({ block, fields }) => [block, fields]));

/** What a field means; the empty string for a block that has none. */
export function fieldText(block: Block<FieldSet>, field: string): string {
  return byBlock.get(block)?.[field] ?? '';
}
