/*
 * JSON Schema as far as deploy/report.schema.json uses it, and stricter in one thing: a property that
 * an object's schema does not list is an error, so that the schema keeps up with the program. A
 * keyword that is not known here is an error of the schema.
 */
#ifndef TESTS_UNIT_SCHEMA_KIT_H
#define TESTS_UNIT_SCHEMA_KIT_H

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"

#define SCHEMA_DEPTH_MAX 32

struct schema {
	const json_t *root;
	struct buf *problems; /* a line each */
	unsigned depth;
};

static inline void schema_problem(const struct schema *s, const char *at, const char *what)
{
	buf_addf(s->problems, "%s: %s\n", *at ? at : "/", what);
}

static inline int schema_is_of(const json_t *v, const char *type)
{
	static const struct {
		const char *name;
		int real, integer, other;
	} numbers[] = {{"number", 1, 1, 0}, {"integer", 0, 1, 0}};
	static const struct {
		const char *name;
		json_type type;
	} plain[] = {{"object", JSON_OBJECT}, {"array", JSON_ARRAY}, {"string", JSON_STRING},
		{"null", JSON_NULL}};

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (!strcmp(type, numbers[i].name))
			return (json_is_real(v) && numbers[i].real) ||
			       (json_is_integer(v) && numbers[i].integer);
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (!strcmp(type, plain[i].name))
			return json_typeof(v) == plain[i].type;
	return !strcmp(type, "boolean") && json_is_boolean(v);
}

static inline void schema_type(
	const struct schema *s, const json_t *want, const json_t *v, const char *at)
{
	const json_t *one;
	size_t i;
	int fits = json_is_string(want) && schema_is_of(v, json_string_value(want));

	json_array_foreach(want, i, one) fits |= schema_is_of(v, json_string_value(one));
	if (!fits)
		schema_problem(s, at, "is of another type");
}

static inline void schema_numbers(
	const struct schema *s, const json_t *schema, const json_t *v, const char *at)
{
	const json_t *least = json_object_get(schema, "minimum");
	const json_t *most = json_object_get(schema, "maximum");
	const json_t *above = json_object_get(schema, "exclusiveMinimum");

	if (!json_is_number(v))
		return;
	if (least && json_number_value(v) < json_number_value(least))
		schema_problem(s, at, "is less than the minimum");
	if (most && json_number_value(v) > json_number_value(most))
		schema_problem(s, at, "is more than the maximum");
	if (above && json_number_value(v) <= json_number_value(above))
		schema_problem(s, at, "is not above the exclusive minimum");
}

/* Expressions that JSON Schema and POSIX read alike. */
static inline void schema_pattern(
	const struct schema *s, const json_t *schema, const json_t *v, const char *at)
{
	const char *pattern = json_get_str(schema, "pattern", NULL);
	regex_t re;

	if (!pattern || !json_is_string(v))
		return;
	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB)) {
		schema_problem(s, at, "has a pattern in its schema that is none");
		return;
	}
	if (regexec(&re, json_string_value(v), 0, NULL, 0))
		schema_problem(s, at, "does not match its pattern");
	regfree(&re);
}

/* Of oneOf: lists of what is required, of which exactly one is met. */
static inline void schema_one_of(
	const struct schema *s, const json_t *schema, const json_t *v, const char *at)
{
	const json_t *list = json_object_get(schema, "oneOf"), *one, *name;
	size_t i, k, met = 0;

	json_array_foreach(list, i, one)
	{
		size_t missing = 0;

		json_array_foreach(json_object_get(one, "required"), k, name)
			missing += !json_object_get(v, json_string_value(name));
		met += !missing;
		if (json_object_size(one) != 1 || !k)
			schema_problem(s, at, "has a oneOf in its schema that is not checked");
	}
	if (list && met != 1)
		schema_problem(s, at, "is not exactly one of its alternatives");
}

static inline void schema_values(
	const struct schema *s, const json_t *schema, const json_t *v, const char *at)
{
	const json_t *list = json_object_get(schema, "enum"), *one;
	const json_t *only = json_object_get(schema, "const");
	size_t i;
	int fits = 0;

	json_array_foreach(list, i, one) fits |= json_equal(one, v);
	if (list && !fits)
		schema_problem(s, at, "is none of the values it may have");
	if (only && !json_equal(only, v))
		schema_problem(s, at, "is not the value it must have");
}

static inline void schema_check(
	struct schema *s, const json_t *schema, const json_t *v, const char *at);

static inline void schema_array(
	struct schema *s, const json_t *schema, const json_t *v, const char *at)
{
	const json_t *items = json_object_get(schema, "items"), *item;
	int64_t least = json_get_int(schema, "minItems", 0);
	int64_t most = json_get_int(schema, "maxItems", INT64_MAX);
	size_t i;

	if ((int64_t)json_array_size(v) < least || (int64_t)json_array_size(v) > most)
		schema_problem(s, at, "has too few or too many items");
	json_array_foreach(v, i, item)
	{
		char *path = xasprintf("%s/%zu", at, i);

		if (items)
			schema_check(s, items, item, path);
		free(path);
	}
}

static inline void schema_object(
	struct schema *s, const json_t *schema, const json_t *v, const char *at)
{
	const json_t *known = json_object_get(schema, "properties"), *name;
	const json_t *others = json_object_get(schema, "additionalProperties");
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, name)
	{
		char *path = xasprintf("%s/%s", at, json_string_value(name));

		if (!json_object_get(v, json_string_value(name)))
			schema_problem(s, path, "is missing");
		free(path);
	}
	json_object_foreach((json_t *)v, key, value)
	{
		const json_t *of = json_object_get(known, key);
		char *path = xasprintf("%s/%s", at, key);

		if (of)
			schema_check(s, of, value, path);
		else if (json_is_object(others))
			schema_check(s, others, value, path);
		else if (!json_is_true(others))
			schema_problem(s, path, "is not in the schema");
		free(path);
	}
}

static inline void schema_keywords(const struct schema *s, const json_t *schema, const char *at)
{
	static const char *const known[] = {"$schema", "title", "description", "$defs", "$ref", "type",
		"enum", "const", "required", "properties", "additionalProperties", "items",
		"minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "pattern", "oneOf"};
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)schema, key, value)
	{
		size_t i = 0;

		while (i < ARRAY_LEN(known) && strcmp(known[i], key))
			i++;
		if (i == ARRAY_LEN(known))
			schema_problem(s, at, "has a keyword in its schema that is not checked");
	}
}

static inline void schema_check(
	struct schema *s, const json_t *schema, const json_t *v, const char *at)
{
	const char *ref = json_get_str(schema, "$ref", NULL);

	if (++s->depth > SCHEMA_DEPTH_MAX || !json_is_object(schema)) {
		schema_problem(s, at, "has no schema, or one that is too deep");
	} else if (ref) {
		schema_check(s,
			json_object_get(json_object_get(s->root, "$defs"),
				strncmp(ref, "#/$defs/", 8) ? "" : ref + 8),
			v, at);
	} else {
		schema_keywords(s, schema, at);
		if (json_object_get(schema, "type"))
			schema_type(s, json_object_get(schema, "type"), v, at);
		schema_values(s, schema, v, at);
		schema_numbers(s, schema, v, at);
		schema_pattern(s, schema, v, at);
		schema_one_of(s, schema, v, at);
		if (json_is_array(v))
			schema_array(s, schema, v, at);
		if (json_is_object(v))
			schema_object(s, schema, v, at);
	}
	s->depth--;
}

#endif
