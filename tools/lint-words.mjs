// Keeps words out of comments, messages and documents that readers stumble over; the right column says what to write instead.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Each pattern with what to write instead. */
const banned = [
  [/\b(?:a|any|each|every|empty|one|quoted|that|this) texts?\b(?! (?:format|part|frame|file)\b)|\btexts\b/i, 'string, message, name or source'],
  [/\b(?:tells?|told|telling)\b/i, 'report, log, notify, say'],
  [/\bjudg(?:e[sd]?|ing|ements?)\b/i, 'check, validate'],
  [/\blook(?:s|ed)? (?:again|around)\b/i, 'read, re-read, scan'],
  [/\b(?:goes|go|went) on\b(?! (?:the|a|its|their|stdout|stderr)\b)/i, 'continue'],
  [/\bof (?:its|their|his) own\b/i, 'own, separate'],
  [/\bby itself\b|\bby themselves\b/i, 'automatically, alone, on its own'],
  [/\bmoments?\b/i, 'time, due time'],
  [/\b(?:deeds?|hungry|crowded|fruitless|doubtful|strangers?|patience|surroundings|succession|predecessors?|hinder(?:s|ed)?)\b/i, 'the term of the field'],
  [/\bspell(?:ed|ings?)\b/i, 'written, form, header names'],
  [/\bthe upstream\b(?! service| goes)/i, 'Nomad or HCP Terraform, by name'],
  [/\bthat (?:is|are) no (?!longer\b|more\b)/i, 'an adjective: "an invalid UUID", not "a text that is no UUID"'],
  [/\bnot available in this edition\b/i, 'Signalbox does not support …'],
];

const files = execFileSync('git', ['ls-files', 'src', 'adapters', 'web', 'examples', 'docs', '*.md', ':!etc'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(?:tsx?|mjs|md|html)$/.test(file) && !file.startsWith('docs/performance'));

const faults = [];
for (const file of files) {
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const prose = proseOf(file, line);
    for (const [pattern, instead] of banned) {
      const found = pattern.exec(prose);
      if (found !== null) faults.push(`${file}:${index + 1}: "${found[0]}": write ${instead}`);
    }
  }
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`${faults.length} words that readers stumble over`);
  process.exitCode = 1;
}

/** What a person reads of a line: comments, messages (strings with a blank) and documents, without code in backquotes. */
function proseOf(file, line) {
  if (file.endsWith('.md')) return line.replaceAll(/`[^`]*`/g, '');
  const comment = /^\s*(?:\/\/|\/?\*)(.*)$/.exec(line) ?? /[;,{}()\]]\s+\/\/ (.*)$/.exec(line);
  if (comment !== null) return comment[1].replaceAll(/`[^`]*`/g, '');
  const messages = line.match(/'(?:[^'\\]|\\.)* (?:[^'\\]|\\.)*'|`[^`]* [^`]*`/g) ?? [];
  return messages.join(' ').replaceAll(/\$\{[^}]*\}/g, '');
}
