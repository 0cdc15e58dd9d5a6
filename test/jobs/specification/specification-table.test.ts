import { describe, expect, test } from 'vitest';
import { submittedFields } from '../../../src/jobs/document/field-table.js';
import { jobSpecification } from '../../../src/jobs/specification/job-blocks.js';
import { fieldOf, type SpecificationBlock, schemaOf } from '../../../src/jobs/specification/specification-table.js';

function allBlocks(): [string, SpecificationBlock][] {
  const found = new Map<SpecificationBlock, string>();
  const visit = (block: SpecificationBlock, path: string): void => {
    if (found.has(block)) return;
    found.set(block, path);
    for (const [name, child] of Object.entries(block.blocks))
      if ('block' in child) visit(child.block, `${path}.${name}`);
  };
  visit(jobSpecification, 'job');
  return [...found].map(([block, path]) => [path, block]);
}

/** Fields of the document that the language has no words for, by document block. */
const withoutWords: Readonly<Record<string, readonly string[]>> = {
  Job: [
    'Stop',
    'ParentID',
    'Dispatched',
    'DispatchIdempotencyToken',
    'Payload',
    'ConsulNamespace',
    'VaultNamespace',
    'NomadTokenID',
    'Status',
    'StatusDescription',
    'Stable',
    'Version',
    'SubmitTime',
    'CreateIndex',
    'ModifyIndex',
    'JobModifyIndex',
    'VersionTag',
  ],
  Task: ['Identity'],
  ScalingPolicy: ['ID', 'Namespace', 'Target', 'CreateIndex', 'ModifyIndex'],
  PeriodicConfig: ['SpecType'],
  SidecarProxy: ['ExposeConfig'],
  ExposeConfig: ['Path'],
  Affinity: ['Weight'],
};

describe.each(allBlocks())('%s', (_path, block) => {
  test('fills every field of its document block but those without words', () => {
    const filled = [
      ...Object.values(block.attributes),
      ...Object.values(block.blocks).flatMap((child) => ('field' in child ? [child.field] : [])),
      ...(block.label === undefined ? [] : [block.label]),
      ...(withoutWords[block.document.name] ?? []),
    ];
    expect([...filled].sort()).toEqual(
      submittedFields(block.document)
        .map(([name]) => name)
        .sort(),
    );
  });

  test('its attributes and blocks fit the kinds of the fields', () => {
    for (const field of Object.values(block.attributes)) {
      expect(['block', 'blocks', 'block_map', 'free_form']).not.toContain(fieldOf(block, field).kind);
    }
    for (const child of Object.values(block.blocks)) {
      if (child.as === 'inherited') continue;
      const kinds = {
        one: ['block'],
        many: ['blocks'],
        keyed: ['block_map'],
        map: ['string_map', 'string_list_map'],
        free_form: ['free_form'],
      };
      const field = fieldOf(block, child.field);
      expect(kinds[child.as]).toContain(field.kind);
      if ('block' in child) expect(child.block.document).toBe(field.block);
    }
    expect(() => schemaOf(block)).not.toThrow();
  });
});
