import type { Block, FieldSet } from '../../document/fields/field-table.js';
import type { BlockTexts } from './field-texts.js';
import { groupTexts } from './group-texts.js';
import { jobTexts } from './job-texts.js';
import { meshTexts } from './mesh-texts.js';
import { placementTexts } from './placement-texts.js';
import { serviceTexts } from './service-texts.js';
import { taskTexts } from './task-texts.js';

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
