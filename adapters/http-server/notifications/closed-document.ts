import type { Call } from '../../../src/api/call.js';
import type { DocumentShape } from '../../../src/api/inputs.js';
import { suggestName } from '../../../src/hcl/index.js';
import { quoted } from '../../../src/shared/values.js';
import type { DocumentFault, RequestDocument } from './request-document.js';

/** The request document of a call that refuses unknown members. */
export function closedDocumentOf(definition: Call): DocumentShape | undefined {
  for (const { locations } of Object.values(definition.inputs)) {
    for (const location of locations) {
      if (location.in === 'document' && location.document.closed === true) return location.document;
    }
  }
  return undefined;
}

/** Faults for attributes and relationships that the shape does not have. */
export function strayFaults(shape: DocumentShape, document: RequestDocument): readonly DocumentFault[] {
  const related = Object.values(shape.relationships).map(({ name }) => name);
  return [
    ...strayMembers('attributes', document.attributes, Object.values(shape.attributes)),
    ...strayMembers('relationships', document.relationships, related),
  ];
}

function strayMembers(
  part: 'attributes' | 'relationships',
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): readonly DocumentFault[] {
  const stray = Object.keys(given).filter((name) => !known.includes(name));
  return stray.map((name) => {
    const near = suggestName(name, known);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    const pointer = `/data/${part}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return { pointer, message: `There is no ${part.slice(0, -1)} ${quoted(name)} here${hint}` };
  });
}
