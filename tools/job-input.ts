/*
 * Generates the input types of job documents: `npx tsx tools/job-input.ts`. A test compares them with the tables.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { renderJobInputTypes } from '../src/jobs/specification/render-job-input.js';

const folder = 'src/jobs/document/input';
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [file, text] of renderJobInputTypes()) writeFileSync(`${folder}/${file}`, text);
execFileSync('npx', ['biome', 'check', '--write', folder], { stdio: 'inherit' });
