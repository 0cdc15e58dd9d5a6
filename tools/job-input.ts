/*
 * Generates the input types of job documents: `npx tsx tools/job-input.ts`. A test compares them with the tables.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { renderJobInputTypes } from '../src/jobs/specification/render-job-input.js';

const file = 'src/jobs/document/job-input.ts';
writeFileSync(file, renderJobInputTypes());
execFileSync('npx', ['biome', 'check', '--write', file], { stdio: 'inherit' });
