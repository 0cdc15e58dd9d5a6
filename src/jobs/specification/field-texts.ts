import type { Block, FieldSet } from '../document/field-table.js';
import { type BlockTexts, groupTexts, jobTexts, placementTexts } from './field-texts/job-texts.js';
import { meshTexts, serviceTexts, taskTexts } from './field-texts/task-texts.js';

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
