import { readFileSync } from 'node:fs';
import { parse } from '@cdktf/hcl2json';
import { expect, test } from 'vitest';
import { parseFile } from '../../../src/hcl/index.js';

const read = (name: string): readonly Readonly<Record<string, string>>[] =>
  JSON.parse(readFileSync(new URL(`../../golden/${name}`, import.meta.url), 'utf8')) as Record<string, string>[];

/** Both take or refuse a text: another implementation of the syntax is asked about every text that the vectors have. */
test('another parser accepts and refuses the same texts', async () => {
  const texts = [
    ...read('hcl-jobs.json').map(({ hcl = '' }) => hcl),
    ...read('hcl-expressions.json').map(({ expr = '' }) => `a = (\n${expr}\n)\n`),
  ].filter((text) => !text.trimStart().startsWith('{'));
  const different: string[] = [];
  for (const text of texts) {
    const other = await parse('job.hcl', text).then(
      () => true,
      () => false,
    );
    if (parseFile(text).isOk() !== other) different.push(text);
  }
  expect(different).toEqual([]);
}, 120_000);
