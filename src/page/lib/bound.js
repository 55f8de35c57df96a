/*
 * Limits the size of a report, so that the page is drawn quickly. Long lists and texts are cut, and neighbouring
 * buckets of a long distribution are merged. Sentences on the page say which parts were omitted. These functions run
 * before the types are checked, so they accept any JSON.
 */

const TEXT_MAX = 2000;
const LIST_MAX = 512;
/*
 * Maximum lengths of lists. The key is the list's own key, or the key of the object that contains the list. The limit
 * of the matrix is the same as in the schema.
 */
const LISTS_MAX = new Map([["histogram", 1024], ["cores", 4096], ["clocks", 64], ["rates", 256], ["findings", 200], ["notes", 200],
	["series", 1440],
	["matrix", MATRIX_CORES_MAX]]);

/*
 * Merges neighbouring buckets of a histogram until at most MOST are left. A merged bucket ends where the last of its
 * buckets ended, and has the sum of their counts.
 */
function mergeBuckets(buckets, most) {
	const merged = [];
	const each = Math.ceil(buckets.length / most);

	for (let at = 0; at < buckets.length; at += each) {
		const group = buckets.slice(at, at + each);

		merged.push({...group[group.length - 1], count: group.reduce((sum, bucket) => sum + bucket.count, 0)});
	}
	return merged;
}

function limitText(text, place, said) {
	if (text.length <= TEXT_MAX)
		return text;
	said(place, `${whole(text.length)} characters, of which ${whole(TEXT_MAX)} are shown`);
	return `${text.slice(0, TEXT_MAX)}…`;
}

function limitList(list, name, place, said) {
	const most = LISTS_MAX.get(name) || LIST_MAX;

	if (list.length <= most)
		return list;
	if (name === "histogram" && list.every((bucket) => isObject(bucket) && isNumber(bucket.count))) {
		said(place, `${whole(list.length)} buckets, drawn as ${whole(Math.ceil(list.length / Math.ceil(list.length / most)))}`);
		return mergeBuckets(list, most);
	}
	said(place, `${whole(list.length)} entries, of which the first ${whole(most)} are shown`);
	return list.slice(0, most);
}

function limitKeys(object, place, said) {
	const keys = Object.keys(object);

	if (keys.length > LIST_MAX) {
		said(place, `${whole(keys.length)} keys, of which the first ${whole(LIST_MAX)} are shown`);
		keys.slice(LIST_MAX).forEach((key) => delete object[key]);
	}
	return keys.slice(0, LIST_MAX);
}

function limitValue(value, name, place, said) {
	if (typeof value === "string")
		return limitText(value, place, said);
	if (Array.isArray(value)) {
		const list = limitList(value, name, place, said);

		/* Each row of the matrix is also a list, and has the same limit as the list of rows. */
		return list.map((item) => (isNumber(item) ? item :
			limitValue(item, name === "matrix" ? name : "", `${place}[]`, said)));
	}
	if (isObject(value))
		for (const key of limitKeys(value, place, said))
			value[key] = limitValue(value[key], key, joined([place, key], "."), said);
	return value;
}

/* Cuts REPORT in place. Returns one sentence for each part that was omitted. */
function limitReport(report) {
	const places = new Map();

	limitValue(report, "", "", (place, what) => {
		const found = places.get(place) || {what, more: 0};

		found.more += places.has(place) ? 1 : 0;
		places.set(place, found);
	});
	return [...places].map(
		([place, {what, more}]) => `${place || "the report"}: ${what}${more ? `, and ${whole(more)} more like it` : ""}`);
}
