import type { BodySchema, DecodedAttribute, DecodedBlock, DecodedBody, Report } from '../../hcl/decode/schema.js';
import { emptyBlock } from '../document/decode-job.js';
import type { SubmittedJob } from '../document/submitted-job.js';
import { jobSpecification } from './job-blocks.js';
import { type Child, type Draft, type SpecificationBlock, schemaOf } from './specification-table.js';

/** The top level of a specification besides variables and locals: exactly one job. */
export const specificationSchema: BodySchema = {
  blocks: { job: { labels: ['ID'], times: 'once', required: true, body: () => schemaOf(jobSpecification) } },
};

/**
 * The submitted job that a decoded specification describes, with the defaults that belong to the language itself (job
 * specification, defaults set at parse time) and no others.
 */
export function jobFromSpecification(body: DecodedBody, report: Report): SubmittedJob {
  const block = body.blocks.get('job')?.[0];
  // The schema requires the block, so it is always present here.
  const draft = block === undefined ? emptyBlock(jobSpecification.document) : readJob(block, report);
  return draft as unknown as SubmittedJob;
}

function readJob(block: DecodedBlock, report: Report): Draft {
  const inheritance: Inheritance = { vault: undefined, secrets: [], tasks: [] };
  const job = readBlock(jobSpecification, block, report, inheritance);
  const groups = (job['TaskGroups'] as Draft[] | null) ?? [];
  const alone = inheritance.tasks.map((task) => groupOfOne(task));
  if (alone.length > 0) job['TaskGroups'] = [...alone, ...groups];
  for (const group of [...alone, ...groups]) inherit(group, inheritance);
  return job;
}

/** Blocks of a job or group that apply to each of its tasks. */
interface Inheritance {
  vault: Draft | undefined;
  readonly secrets: Draft[];
  /** Tasks outside a group. */
  readonly tasks: Draft[];
}

/** A task outside a group is a separate group, with the same name. */
function groupOfOne(task: Draft): Draft {
  const group = jobSpecification.blocks['group'];
  const empty = group !== undefined && 'block' in group ? emptyBlock(group.block.document) : {};
  return { ...empty, Name: task['Name'], Tasks: [task] };
}

/** A task's vault block overrides its group's, which overrides the job's; secrets are concatenated, the task's first. */
function inherit(holder: Draft, { vault, secrets }: Inheritance): void {
  for (const task of (holder['Tasks'] as Draft[] | null) ?? []) {
    if (vault !== undefined && task['Vault'] === null) task['Vault'] = { ...vault };
    if (secrets.length > 0) {
      task['Secrets'] = [...((task['Secrets'] as Draft[] | null) ?? []), ...secrets.map((secret) => ({ ...secret }))];
    }
  }
}

function readBlock(
  specification: SpecificationBlock,
  block: DecodedBlock,
  report: Report,
  inheritance?: Inheritance,
): Draft {
  const own: Inheritance = inheritance ?? { vault: undefined, secrets: [], tasks: [] };
  const draft: Draft = emptyBlock(specification.document);
  if (specification.label !== undefined) draft[specification.label] = block.labels[0]?.text ?? '';
  for (const [name, attribute] of block.body.attributes) readAttribute(specification, draft, name, attribute);
  for (const [name, children] of block.body.blocks) {
    const child = specification.blocks[name];
    if (child !== undefined) readChildren({ draft, report, inheritance: own }, name, child, children);
  }
  specification.finish?.(draft, block, report);
  // The job's blocks are inherited once its groups are complete.
  if (inheritance === undefined) inherit(draft, own);
  return draft;
}

function readAttribute(
  specification: SpecificationBlock,
  draft: Draft,
  name: string,
  { value }: DecodedAttribute,
): void {
  const field = specification.attributes[name];
  if (field !== undefined) {
    draft[field] = value;
    return;
  }
  const child = specification.blocks[name];
  if (child?.as === 'map') draft[child.field] = value;
}

function readChildren(
  { draft, report, inheritance }: { draft: Draft; report: Report; inheritance: Inheritance },
  name: string,
  child: Child,
  blocks: readonly DecodedBlock[],
): void {
  const [first] = blocks;
  if (first === undefined) return;
  switch (child.as) {
    case 'one':
      draft[child.field] = readBlock(child.block, first, report);
      return;
    case 'many':
      draft[child.field] = blocks.map((block) => readBlock(child.block, block, report));
      return;
    case 'keyed':
      draft[child.field] = Object.fromEntries(
        blocks.map((block) => [block.labels[0]?.text ?? '', readBlock(child.block, block, report)]),
      );
      return;
    case 'map':
      draft[child.field] = mapOf(first.body);
      return;
    case 'free_form':
      draft[child.field] = first.data ?? {};
      return;
    case 'inherited': {
      const drafts = blocks.map((block) => readBlock(child.block, block, report));
      if (name === 'task') inheritance.tasks.push(...drafts);
      else if (name === 'secret') inheritance.secrets.push(...drafts);
      else inheritance.vault = drafts[0];
    }
  }
}

function mapOf(body: DecodedBody): Record<string, unknown> {
  return Object.fromEntries([...body.attributes].map(([name, attribute]) => [name, attribute.value]));
}
