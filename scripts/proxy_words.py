"""Word lists of the proxy's training tasks: invented or everyday words, none of the demo's or the fault suite's topics.

`HELD_OUT_*` lists are used by the evaluation only and never by training.
"""

TOPICS = """garden plot|boat mooring|bee hive|library card|choir room|kiln time|bicycle shed|telescope night|water meter|fishing pier
market stall|swimming lane|piano lesson|allotment hut|chess table|cargo crane|harbour tug|seed store|wood stove|climbing wall
roof terrace|ice rink|costume trunk|film projector|potter wheel|dark room|rowing boat|sand pit|sheep fold|orchard row
mill wheel|canal lock|ferry seat|kayak rack|ski wax|lamp oil|rope ladder|tool bench|paint booth|drum kit|bell tower|clock repair
map drawer|globe loan|fossil tray|herb bed|rose trellis|fern house|owl box|bat walk|trout pond|goat pen|hay barn|cider press
honey jar|bread oven|jam shelf|cheese cellar|soup kitchen|tea urn|picnic lawn|camp fire|tent pitch|trail pass|summit hut
cable lift|snow plough|gravel yard|brick pallet|slate order|glass offcut|timber rack|nail bin|sewing corner|loom hour|dye vat
wool bale|felt press|quilt frame|bead box|mask shop|puppet stage|mime class|tango hall|opera box|jazz cellar|folk tent|poetry night
archive lamp|microfilm reel|stamp album|coin case|medal stand|flag pole|kite field|glider slot|balloon launch|drone cage
radio mast|antenna hut|tide gauge|rain barrel|wind vane|sun dial|storm drain|flood gate|dyke path|marsh walk|heron hide""".replace("\n", "|").split("|")

HELD_OUT_TOPICS = """stable box|vine terrace|ink press|salt pan|silk loft|crystal set|moss bank|plum store|otter pool|lace pillow
beacon stair|cork float|amber chest|quarry cart|maple tap|falcon perch|raft ramp|tin forge|peat stack|reed bed""".replace("\n", "|").split("|")

GROUPS = """members|visitors;owners|tenants;teachers|pupils;pilots|stewards;founders|newcomers;adults|children;locals|travellers
captains|deckhands;judges|entrants;singers|listeners;growers|buyers;makers|helpers;seniors|juniors;patrons|guests of patrons
soloists|chorus;keepers|feeders;masters|apprentices;hosts|lodgers;riders|walkers;painters|sitters;editors|readers;bakers|millers
divers|swimmers;rangers|campers;weavers|spinners;drivers|loaders;nurses|porters;skippers|rowers""".replace("\n", ";").split(";")

HELD_OUT_GROUPS = "brewers|coopers;archers|fletchers;tanners|dyers;stewards of the hall|pages;glaziers|roofers".split(";")

UNITS = """credits|points|crowns|tokens|hours|days|weeks|minutes|metres|litres|kilos|places|tickets|crates|sacks|baskets|visits
rounds|sheets|pots|bundles|coins|marks|florins|steps|keys|boxes|turns|nights|pages""".replace("\n", "|").split("|")

HELD_OUT_UNITS = "barrels|ducats|yards|spools|lanterns|casks".split("|")

PHRASES = """by letter only|after a short talk|with a witness|at the north gate|before noon|once a season|never on Sundays
with two signatures|in person|when the bell rings|from the side door|on even days|with a deposit|after the first frost
under supervision|in pairs|without charge|at half price|by draw|on the waiting list|with a blue card|with a written note""".replace("\n", "|").split("|")

FILLERS = """The list is kept at the front desk.|Questions go to the warden.|Copies hang in the hall.|Lost cards are replaced once.
The committee meets twice a year.|Please keep the paths clear.|Tools go back where they were.|The gate closes at dusk.
Dogs stay outside.|Photographs are welcome.|The bridge is narrow.|Lamps are checked each spring.|Please be on time.
The old well is out of use.|Boots are left at the door.|A bell rings at closing time.|Wet weather changes nothing.
The office is on the second floor.|Notices are taken down after a month.|The key hangs behind the counter.""".replace("\n", "|").split("|")

PLACES = """Harrow Weir|Ostrava Mill|Lindow|Quay Nine|Tamsin Green|Verrin House|Port Calder|Old Foundry|Marlow Yard|Birch Hall
Saltmere|Kestrel Point|Upper Vane|Grey Wharf|Dunmoor|Fallow End|Thistle Bay|Copper Lane|Rook Hill|Westering""".replace("\n", "|").split("|")

ZH_TOPICS = """菜园地块|游船泊位|蜂箱|借书证|合唱教室|窑炉时段|单车棚|观星夜|水表|钓鱼台|集市摊位|泳道|钢琴课|棋桌|码头吊机|种子库|柴炉|攀岩墙|屋顶平台|冰场
戏服箱|放映机|陶轮|暗房|划艇|沙坑|羊圈|果树行|水车|船闸|渡轮座位|皮艇架|灯油|绳梯|木工台|喷漆间|鼓房|钟楼|钟表修理|地图柜|化石盘|香草畦|花架
蕨房|鸟箱|鳟鱼池|草料仓|榨汁机|蜂蜜罐|面包窑|果酱架|奶酪窖|茶壶|草坪野餐|营火|帐篷位|步道证|山顶小屋|缆车|扫雪车|砖垛|石板|玻璃料|木料架|缝纫角
织机|染缸|羊毛包|毡机|拼布架|珠盒|面具铺|木偶台|舞厅|包厢|诗会|档案灯|邮册|钱币柜|旗杆|风筝场|滑翔位|气球|天线房|潮位尺|雨桶|风向标|日晷|堤路""".replace("\n", "|").split("|")

ZH_HELD_OUT_TOPICS = "马厩|葡萄坡|印墨机|盐田|丝阁|苔岸|李子仓|水獭池|花边枕|灯塔梯|琥珀箱|采石车|枫糖桶|鹰架|木筏坡|锡炉|泥炭堆|芦苇床".split("|")

ZH_GROUPS = """会员|访客;房东|租客;老师|学生;船长|水手;成人|儿童;本地人|旅客;评委|选手;歌手|听众;种植户|买家;师傅|学徒;骑手|行人
画家|模特;编辑|读者;面包师|磨坊工;潜水员|泳客;巡护员|露营者;织工|纺工;司机|装卸工;护士|搬运工;长者|青年""".replace("\n", ";").split(";")

ZH_HELD_OUT_GROUPS = "酿酒师|箍桶匠;弓手|箭匠;皮匠|染匠;玻璃工|瓦工".split(";")

ZH_UNITS = "积分|个币|小时|周|分钟|米|升|公斤|个位子|张票|箱|袋|篮|次|轮|页|盆|捆|把钥匙|晚".split("|")

ZH_HELD_OUT_UNITS = "桶|码|卷|盏|坛".split("|")

ZH_PHRASES = "只收信件|须面谈|须有见证人|走北门|中午之前|每季一次|周日不行|须两人签名|须本人到场|铃响之后|走侧门|逢双日|先交定金|霜降之后|两人一组|免费|半价|抽签|排队等候|持蓝卡".split("|")

ZH_FILLERS = """名单放在前台。|有疑问请找管理员。|副本贴在大厅。|卡片遗失可补一次。|委员会每年开两次会。|请保持通道畅通。|工具用后归位。|黄昏关门。
狗不得入内。|欢迎拍照。|桥面很窄。|灯具春天检查。|请准时。|旧井已停用。|靴子放在门口。|关门时打铃。|雨天照常。|办公室在二楼。|钥匙挂在柜台后。""".replace("\n", "|").split("|")

ZH_PLACES = "河湾|旧磨坊|九号码头|青石院|卡尔德港|老铸造厂|桦树厅|盐湖|隼角|灰码头|荒原|蓟湾|铜巷|鸦山|西岭".split("|")

# Everyday words that only the tokenizer sees, so that ordinary prompts do not fall apart into letters.
EVERYDAY = """the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were
all her she there would their we him been has when who will no more if out so up said what its about than into them can only other
time new some could these two may first then do any like my now over such our man me even most made after also did many off before
must well back through years where much your way down should because long each just state those people too mr how little good world
make very year still see own work men day get here between both life being under three never know same last another while us might
great go come since against right came take used himself few house use place during without again home around small however found
part school every thought once general high upon war left number course until always away something fact water less public put think
almost hand enough far took head yet better set told nothing night end why called find going look asked later point knew next
week give group important rather case best form open per policy policies version versions valid document documents search find text
texts rule rules answer question condition conditions missing ask cite citation source date today tomorrow employee employees
contractor contractors intern interns manager staff company office desk travel trip money budget amount limit maximum minimum price
cost pay paid refund order orders item items customer service agent user system tool tools call result error timeout failed success
retry request response model message assistant name names number numbers list show read write file files index update change delete
cancel return exchange product address email phone account card gift payment book flight ticket cabin class status pending delivered
please sorry cannot could would like need help thank thanks welcome yes sure okay let check confirm details information available
following based according approve approved approval signature signed require required requires apply applies application allowed
allow permit permitted month months monthly yearly annual daily hour minute second euro dollar euros dollars percent above below
within outside plan summary earlier step steps found directory profile rate total each every additional extra personal business
""".split()

# Characters and everyday words that only the tokenizer sees (besides what the tasks use).
ZH_CHARS = """的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去
法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业
外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提
立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克
许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术
领共确传师观清今切院让识候带导争运笔往每六飞八七九百千元角价费补贴贴额限度限上限下限报销申请批准审批签字发票凭证员工外包实习主管经理部门
差旅出差酒店住宿餐饮交通火车飞机航班座位舱订单退款退货换货商品客户地址邮箱账户支付礼品卡余额查询搜索检索文档版本有效失效生效日期起止截至
条件缺少询问回答引用编号来源制度政策规定标准适用人员正式临时合同培训课程电脑手机话费加班假期年假病假陪护押金宿舍实验室门禁访客车辆油费里程
公里补助津贴奖金工资税前税后月度季度年度预算超支财务行政法务采购库存仓库快递签收确认取消修改更新删除新增失败成功超时错误重试请求响应模型
工具系统用户助手消息步骤摘要结果原因注意请勿必须可以不得需要应当如果否则以及或者并且但是因为所以然后首先其次最后目前之前之后以内以外以上以下
左右大约至少至多每天每周每月每年每次每人每晚小时分钟工作日节假日周末上午下午晚上早晨中午今天明天昨天""".replace("\n", "")
