import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, type Path } from '../../ground/values.ts';
import type { Field } from '../../kinds/kind.ts';
import { parseTemplate } from '../../manifest/template/parse-template.ts';
import {
  isTemplate,
  type NamePath,
  type ParsedTemplate,
  readTruth,
  type Template,
  type TemplateFault,
} from '../../manifest/template/template.ts';
import type { Places } from '../../manifest/yaml/places.ts';

/** A text of the manifest that may contain templates. `path`: path of its key. */
export interface Site {
  text: string;
  path: Path;
}

export class Templates {
  readonly #parsed = new Map<string, ParsedTemplate>();
  readonly #unsound = new Set<string>();

  get(text: string): Template | undefined {
    return this.parse(text).template;
  }

  parse(text: string): ParsedTemplate {
    const known = this.#parsed.get(text);
    if (known !== undefined) return known;
    const result = parseTemplate(text);
    this.#parsed.set(text, result);
    return result;
  }

  pathsIn(value: Json): NamePath[] {
    return findTemplates(value, []).flatMap(({ text }) => this.get(text)?.paths ?? []);
  }

  get expressions(): string[] {
    return [...this.#parsed.keys()].flatMap((text) => text.match(/\{\{[^{}]*\}\}/g) ?? []);
  }

  markUnsound(path: Path): void {
    this.#unsound.add(path.join('\n'));
  }

  /** Returns whether the text at this path may be rendered. A wrong text is not rendered, and reported only once. */
  isSound(path: Path): boolean {
    return this.#unsound.size === 0 || !this.#unsound.has(path.join('\n'));
  }
}

export function findTemplates(value: Json, path: Path): Site[] {
  const sites: Site[] = [];
  const visit = (item: Json, at: Path): void => {
    if (typeof item === 'string') {
      if (isTemplate(item)) sites.push({ text: item, path: at });
    } else if (Array.isArray(item)) {
      for (const [index, child] of item.entries()) visit(child, [...at, index]);
    } else if (isMap(item)) {
      for (const [key, child] of Object.entries(item)) visit(child, [...at, key]);
    }
  };
  visit(value, path);
  return sites;
}

export function columnIn(value: Json, templates: Templates): string | undefined {
  const [column, another] = new Set(
    templates.pathsIn(value).flatMap(({ parts: [root, name] }) => (root === 'row' && name !== undefined ? [name] : [])),
  );
  return another === undefined ? column : undefined;
}

export function placeFault(fault: TemplateFault, site: Site, places: Places): Diagnostic {
  const place = places.within(site.path, { text: site.text, start: fault.start, end: fault.end });
  // If the wrong part is not found in the source, the whole text is reported as the place of the mistake.
  const isExact = place.end.offset - place.start.offset === fault.end - fault.start;
  const { code, message, hint, meant } = fault;
  const fix = meant !== undefined && isExact ? { place, text: meant } : undefined;
  return { code, severity: 'error', message, hint, place, fix };
}

/**
 * Converts a rendered value to the type of its field, for example `"5"` to a number, because some data files contain
 * only strings. Returns `undefined` if a template left an optional field empty.
 */
export function fitField(value: Json, written: Json, field: Field | undefined): Json | undefined {
  if (field === undefined) return value;
  const isRendered = typeof written === 'string' && isTemplate(written);
  if (isRendered && field.required !== true && isEmpty(value)) return undefined;
  switch (field.type) {
    case 'number':
      return readNumber(value) ?? value;
    case 'boolean':
      return (typeof value === 'string' ? readTruth(value) : undefined) ?? value;
    case 'string':
      return isRendered ? asText(value) : value;
    case 'strings': {
      if (!Array.isArray(value)) return value;
      const isMade = (index: number): boolean => {
        const entry = Array.isArray(written) ? written[index] : undefined;
        return isRendered || (typeof entry === 'string' && isTemplate(entry));
      };
      const kept = value.flatMap((entry, index) => {
        if (!isMade(index)) return [entry];
        return isEmpty(entry) ? [] : [asText(entry)];
      });
      const isLeftEmpty = kept.length === 0 && (isRendered || value.length > 0);
      return isLeftEmpty && field.required !== true ? undefined : kept;
    }
    default:
      return value;
  }
}

function isEmpty(value: Json): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}

function asText(value: Json): Json {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

function readNumber(value: Json): number | undefined {
  return typeof value === 'string' && /^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/.test(value) ? Number(value) : undefined;
}
