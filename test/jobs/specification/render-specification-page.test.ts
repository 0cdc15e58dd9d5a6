import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderSpecificationPage } from '../../../src/jobs/specification/render-specification-page.js';

const page = new URL('../../../docs/job-specification.md', import.meta.url);

// `UPDATE_PAGES=1 npx vitest run test/jobs/specification` writes the page anew.
test('the committed page is current', () => {
  const rendered = renderSpecificationPage();
  if (process.env['UPDATE_PAGES'] === '1') writeFileSync(page, rendered);
  expect(readFileSync(page, 'utf8')).toBe(rendered);
});

test('the page has the defaults that registration fills in, the values that are taken, and the meaning', () => {
  const rendered = renderSpecificationPage();
  expect(rendered).toContain('| `progress_deadline` | duration | `ProgressDeadline` | `10m0s` | ');
  expect(rendered).toContain('| `priority` | whole number | `Priority` | `50` | ');
  expect(rendered).toMatch(/^\| `hook` \| `prestart`, .*, required \| `Hook` \| {2}\| [A-Z].*\. \|$/m);
});
